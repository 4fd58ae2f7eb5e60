// One attempt to get an answer from a back end: circuit breaker, budget, time limit, call, validation of the reply.
import type { FastifyBaseLogger } from 'fastify';
import { ValidationError } from '../../schemas/validation/model.ts';
import { isAbort } from '../errors.ts';
import type { Backend } from './backends.ts';
import type { Budget } from './budget.ts';
import { buildRequest, type ComposedPrompt } from './build-request.ts';
import type { VLMReply, VLMRequest } from './client.ts';
import type { Role, RoleSettings } from './config-file.ts';
import { formatIssues } from './attempt-record.ts';
import {
  BudgetExceededError,
  InvalidReplyError,
  VLMError,
  type ValidationFeedback,
  type VLMErrorKind,
} from './errors.ts';
import { extractJson } from './json-extraction.ts';

export interface ModelAnswer<T> {
  value: T;
  backend: string;
  model: string;
}

export interface TimeLimit {
  signal: AbortSignal;
  /** On the clock of performance.now(). */
  until: number;
}

export interface Attempt<T> {
  role: Role;
  settings: RoleSettings;
  backend: Backend;
  composed: ComposedPrompt<T>;
  /** What was wrong with the previous reply. */
  feedback: ValidationFeedback | null;
  time: TimeLimit;
}

/** A shorter time is not worth a call. */
export const MIN_CALL_MS = 20;
export const isTimeUp = ({ until }: TimeLimit): boolean => until - performance.now() < MIN_CALL_MS;

const MAX_QUOTED_REPLY = 4_000;
/** The failures that the circuit breaker counts. */
const OUTAGES: readonly VLMErrorKind[] = ['authentication', 'unavailable', 'network', 'timeout'];

/** Rejects with a VLMError, an InvalidReplyError, a BudgetExceededError, or the signal's reason. */
export async function attemptCall<T>(
  attempt: Attempt<T>,
  budget: Budget,
  log: FastifyBaseLogger,
): Promise<ModelAnswer<T>> {
  const { role, settings, backend, composed, feedback, time } = attempt;
  if (isTimeUp(time)) throw new VLMError('timeout', 'No time is left for a call');
  const request = buildRequest(composed, backend, settings, feedback);
  // Before the budget: a call that is not made must not be charged.
  if (!backend.breaker.allow())
    throw new VLMError('circuit_open', `${backend.name} failed repeatedly and is paused for a while`);
  const reservation = budget.reserve(role, backend, request);
  if ('refused' in reservation) {
    backend.breaker.onNeutral();
    throw new BudgetExceededError(reservation.refused);
  }
  const limitMs = Math.max(1, Math.min(settings.timeout, time.until - performance.now()));
  try {
    const reply = await callWithin(limitMs, attempt, request, log);
    backend.breaker.onSuccess();
    reservation.settle(reply.usage);
    return { value: parseReply(composed, reply, role, log), backend: backend.name, model: reply.model };
  } catch (error) {
    if (error instanceof InvalidReplyError) throw error;
    reservation.release(error instanceof VLMError && (error.status ?? 0) >= 400);
    if (isOutage(error, limitMs < settings.timeout)) backend.breaker.onFailure();
    else backend.breaker.onNeutral();
    if (error instanceof VLMError && error.retry === 'explained')
      throw new InvalidReplyError(error, { reply: '', problem: error.message });
    throw error;
  }
}

async function callWithin<T>(
  limitMs: number,
  { role, backend, composed, time }: Attempt<T>,
  request: VLMRequest,
  log: FastifyBaseLogger,
): Promise<VLMReply> {
  const started = performance.now();
  const timeout = AbortSignal.timeout(Math.ceil(limitMs));
  const reply = await backend.client
    .generate(request, AbortSignal.any([time.signal, timeout]))
    .catch((error: unknown) => {
      if (timeout.aborted && !time.signal.aborted && isAbort(error))
        throw new VLMError('timeout', `No reply within ${Math.round(limitMs)} ms`);
      throw error;
    });
  const fields = { role, backend: backend.name, task: composed.task };
  log.debug({ ...fields, call_ms: Math.round(performance.now() - started), ...reply.usage }, 'Model replied');
  log.trace({ ...fields, prompt: request.turns, reply: reply.text }, 'Model conversation');
  return reply;
}

/** A timeout forced by the assessment's own deadline says nothing about the back end. */
const isOutage = (error: unknown, isForced: boolean): boolean =>
  error instanceof VLMError && OUTAGES.includes(error.kind) && !(error.kind === 'timeout' && isForced);

function parseReply<T>(composed: ComposedPrompt<T>, reply: VLMReply, role: Role, log: FastifyBaseLogger): T {
  try {
    return composed.read(findJson(reply), reply, (what) => {
      log.info({ role, task: composed.task, repaired: what }, 'Model answer repaired');
    });
  } catch (error) {
    if (!(error instanceof ValidationError || error instanceof SyntaxError || error instanceof VLMError)) throw error;
    const problem = error instanceof ValidationError ? formatIssues(error) : error.message;
    throw new InvalidReplyError(error, { reply: reply.text.slice(0, MAX_QUOTED_REPLY), problem });
  }
}

function findJson({ text, complete }: VLMReply): Record<string, unknown> {
  const value = extractJson(text);
  if (value) return value;
  if (!complete) throw new VLMError('truncated', 'The answer was cut off at the token limit; answer more briefly');
  throw new SyntaxError(`Expected a JSON object but received ${text.trim() === '' ? 'nothing' : 'text without one'}`);
}
