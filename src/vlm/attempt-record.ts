// The record of a failed attempt, for the response and the log.
import type { FastifyBaseLogger } from 'fastify';
import { buildPlannerError } from '../../schemas/pipeline/planner-error.ts';
import { ValidationError } from '../../schemas/validation/model.ts';
import { publicMessage } from '../errors.ts';
import type { Role } from './config-file.ts';
import { VLMError } from './errors.ts';

export interface AttemptRecord {
  role: Role;
  /** With this back end, counted from 1. */
  attempt: number;
  backend: string;
  error_type: string;
  message: string;
  timestamp: string;
}

export function recordFailure(
  error: unknown,
  { role, backend, attempt }: Pick<AttemptRecord, 'role' | 'backend' | 'attempt'>,
  log: FastifyBaseLogger,
): AttemptRecord {
  const plannerError = buildPlannerError(error, { attempt, backend });
  if (role === 'planner') log.warn({ planner_error: plannerError }, 'Planner attempt failed');
  const { error_type, timestamp } = plannerError;
  const record = { role, attempt, backend, error_type, message: publicReason(error), timestamp };
  const providerSays = error instanceof VLMError ? error.providerSays : undefined;
  log.warn({ model_error: record, ...(providerSays ? { provider_says: providerSays } : {}) }, 'Model attempt failed');
  return record;
}

/** A JSON Pointer into a reply ("/plan/tool_execution") looks like a file path but must not be hidden. */
export const publicReason = (error: unknown): string =>
  error instanceof ValidationError ? `Invalid ${error.model}: ${formatIssues(error)}` : publicMessage(error);

/** Keeps a long list with an error in every item from filling the next prompt. */
const MAX_ISSUES = 12;

export const formatIssues = ({ issues }: ValidationError): string =>
  [
    ...issues.slice(0, MAX_ISSUES).map((found) => found.message),
    ...(issues.length > MAX_ISSUES ? [`and ${issues.length - MAX_ISSUES} more`] : []),
  ].join('; ');
