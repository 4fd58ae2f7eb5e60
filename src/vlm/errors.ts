// Errors of model calls, classified by what helps against them. SDK errors and response headers never leave this folder.

/** `later`: retry after a wait. `explained`: retry and tell the model what was wrong. */
type Retry = 'never' | 'later' | 'explained';

const RETRY = {
  authentication: 'never',
  bad_request: 'never',
  rate_limited: 'later',
  unavailable: 'later',
  timeout: 'later',
  network: 'later',
  bad_reply: 'later',
  refusal: 'explained',
  truncated: 'explained',
  circuit_open: 'never',
} as const satisfies Record<string, Retry>;
export type VLMErrorKind = keyof typeof RETRY;

export class VLMError extends Error {
  override readonly name = 'VLMError';
  readonly kind: VLMErrorKind;
  /** PlannerError classifies errors by code. */
  readonly code: string;
  readonly status: number | undefined;
  /** The wait that the provider asked for. */
  readonly retryAfterMs: number | undefined;
  /** The provider's own message, for the log only. */
  readonly providerSays: string | undefined;

  constructor(
    kind: VLMErrorKind,
    message: string,
    details: { status?: number; retryAfterMs?: number | undefined; providerSays?: string } = {},
  ) {
    super(message);
    this.kind = kind;
    this.code = `VLM_${kind.toUpperCase()}`;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.providerSays = details.providerSays;
  }

  get retry(): Retry {
    return RETRY[this.kind];
  }
}

/** What was wrong with a reply, for the next attempt. */
export interface ValidationFeedback {
  reply: string;
  problem: string;
}

/** The back end replied, but not with a valid answer. */
export class InvalidReplyError extends Error {
  override readonly name = 'InvalidReplyError';
  override readonly cause: Error;
  readonly feedback: ValidationFeedback;

  constructor(cause: Error, feedback: ValidationFeedback) {
    super(cause.message);
    this.cause = cause;
    this.feedback = feedback;
  }
}

export class BudgetExceededError extends Error {
  override readonly name = 'BudgetExceededError';
}

/** A speculative call was not made. */
export class SpeculationSkippedError extends Error {
  override readonly name = 'SpeculationSkippedError';
}

/** Unwraps our own error from an SDK error; anything else is a reply that the SDK could not parse. */
export function asVLMError(error: unknown, signal: AbortSignal): unknown {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof VLMError) return current;
  }
  if (signal.aborted) return signal.reason;
  return new VLMError(
    'bad_reply',
    `The reply cannot be parsed (${error instanceof Error ? error.name : typeof error})`,
  );
}
