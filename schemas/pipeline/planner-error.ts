// The record of one failed planner attempt: enough to debug it, nothing secret.
import Type, { type Static } from 'typebox';
import { defineModel, parse, ValidationError } from '../validation/model.ts';
import { Nullable, Timestamp } from '../vocabulary.ts';

export const PlannerError = defineModel(
  'PlannerError',
  Type.Object(
    {
      error_type: Type.String({
        pattern: '\\S',
        description: 'validation_error, timeout_error, api_error or internal_error.',
      }),
      message: Type.String({ description: 'Human-readable description of the error.' }),
      details: Nullable(
        Type.Record(Type.String(), Type.Unknown()),
        'exception_type, attempt (from 1) and backend of the attempt.',
      ),
      retry_count: Type.Integer({ minimum: 0, description: 'Retries made before this failure.' }),
      timestamp: Timestamp('Time of the failure.'),
    },
    { additionalProperties: false, description: 'One failed planner attempt.' },
  ),
  {
    examples: [
      {
        error_type: 'validation_error',
        message: 'Invalid PlannerOutput: Expected one of "IQA", "Other" for /query_type but received "INVALID"',
        details: { exception_type: 'ValidationError', attempt: 1, backend: 'openai.gpt-4o' },
        retry_count: 0,
        timestamp: '2026-11-17T08:00:00.000Z',
      },
    ],
  },
);
export type PlannerError = Static<typeof PlannerError>;

interface FailedAttempt {
  /** Counted from 1. */
  attempt: number;
  backend: string;
  now?: Date;
}

export function buildPlannerError(
  exception: unknown,
  { attempt, backend, now = new Date() }: FailedAttempt,
): PlannerError {
  const error = exception instanceof Error ? exception : new Error(toText(exception));
  return parse(PlannerError, {
    error_type: classifyError(error),
    message: error.message || error.name,
    details: { exception_type: error.name, attempt, backend },
    retry_count: attempt - 1,
    timestamp: now,
  });
}

/** Some thrown values cannot be converted to a string. */
function toText(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return `a thrown ${typeof thrown}`;
  }
}

/** By name, or by the code of the error or of its cause ("fetch failed"). */
function classifyError(error: Error): string {
  const code = readCode(error) ?? readCode(error.cause);
  if (error instanceof ValidationError || error instanceof SyntaxError) return 'validation_error';
  if (/^(TimeoutError|AbortError)$/.test(error.name) || /TIMEOUT|TIMEDOUT/.test(code ?? '')) return 'timeout_error';
  return code !== undefined || 'status' in error ? 'api_error' : 'internal_error';
}

function readCode(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined;
}
