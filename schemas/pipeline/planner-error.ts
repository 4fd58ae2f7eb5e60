// What is recorded of one failed planner attempt: enough to debug it, nothing secret.
import Type, { type Static } from 'typebox';
import { defineModel, parse, ValidationError } from '../validation/model.ts';
import { Nullable, Timestamp } from '../vocabulary.ts';

const schema = Type.Object(
  {
    error_type: Type.String({
      pattern: '\\S',
      description: 'validation_error, timeout_error, api_error or internal_error.',
    }),
    message: Type.String({ description: 'What went wrong, for people.' }),
    details: Nullable(
      Type.Record(Type.String(), Type.Unknown()),
      'exception_type, attempt (from 1) and backend of the attempt.',
    ),
    retry_count: Type.Integer({ minimum: 0, description: 'Retries made before this failure.' }),
    timestamp: Timestamp('When it failed.'),
  },
  { additionalProperties: false, description: 'One failed planner attempt.' },
);

export interface FailedAttempt {
  /** Counted from 1. */
  attempt: number;
  backend: string;
  now?: Date;
  log?: { warn: (fields: object, message: string) => void };
}

/** Builds the record of a failed attempt and writes it to the log as one warning. */
function fromException(exception: unknown, { attempt, backend, now = new Date(), log }: FailedAttempt): PlannerError {
  const error = exception instanceof Error ? exception : new Error(textOf(exception));
  const record = parse(PlannerError, {
    error_type: errorTypeOf(error),
    message: error.message || error.name,
    details: { exception_type: error.name, attempt, backend },
    retry_count: attempt - 1,
    timestamp: now,
  });
  log?.warn({ planner_error: record }, 'Planner attempt failed');
  return record;
}

/** Whatever was thrown, even what has no text. */
function textOf(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return `a thrown ${typeof thrown}`;
  }
}

/** By name, and by the code that clients and our own errors carry, also where it stands in the cause ("fetch failed"). */
function errorTypeOf(error: Error): string {
  const code = codeOf(error) ?? codeOf(error.cause);
  if (error instanceof ValidationError || error instanceof SyntaxError) return 'validation_error';
  if (/^(TimeoutError|AbortError)$/.test(error.name) || /TIMEOUT|TIMEDOUT/.test(code ?? '')) return 'timeout_error';
  return code !== undefined || 'status' in error ? 'api_error' : 'internal_error';
}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined;
}

// The factory hangs on the schema without being part of it: a published schema carries no functions.
export const PlannerError = Object.defineProperty(schema, 'fromException', {
  value: fromException,
}) as typeof schema & { readonly fromException: typeof fromException };
export type PlannerError = Static<typeof schema>;

defineModel('PlannerError', PlannerError, {
  examples: [
    {
      error_type: 'validation_error',
      message: 'Invalid PlannerOutput: Expected one of "IQA", "Other" for /query_type but received "INVALID"',
      details: { exception_type: 'ValidationError', attempt: 1, backend: 'openai.gpt-4o' },
      retry_count: 0,
      timestamp: '2026-11-17T08:00:00.000Z',
    },
  ],
});
