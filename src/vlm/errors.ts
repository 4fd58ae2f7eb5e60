// What can go wrong with a provider, by what helps against it. No SDK error, and no header, ever travels further than here.

export const VLM_ERROR_KINDS = {
  authentication: { retry: 'never' },
  bad_request: { retry: 'never' },
  rate_limited: { retry: 'later' },
  unavailable: { retry: 'later' },
  timeout: { retry: 'later' },
  network: { retry: 'later' },
  bad_reply: { retry: 'later' },
  refusal: { retry: 'explained' },
  truncated: { retry: 'explained' },
  circuit_open: { retry: 'never' },
} as const satisfies Record<string, { retry: 'never' | 'later' | 'explained' }>;
export type VLMErrorKind = keyof typeof VLM_ERROR_KINDS;

export class VLMError extends Error {
  override readonly name = 'VLMError';
  readonly kind: VLMErrorKind;
  /** For whoever sorts errors by code, as PlannerError does. */
  readonly code: string;
  readonly status: number | undefined;
  /** What the provider asked us to wait. */
  readonly retryAfterMs: number | undefined;
  /** The provider's own words, for the log alone. */
  readonly providerSays: string | undefined;

  constructor(
    kind: VLMErrorKind,
    message: string,
    details: { status?: number; retryAfterMs?: number | undefined; providerSays?: string } = {},
  ) {
    super(message);
    this.kind = kind;
    this.code = kind === 'timeout' ? 'VLM_TIMEOUT' : `VLM_${kind.toUpperCase()}`;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.providerSays = details.providerSays;
  }

  get retry(): 'never' | 'later' | 'explained' {
    return VLM_ERROR_KINDS[this.kind].retry;
  }
}

/** SDKs wrap what our fetch threw; this finds it again. Anything else is an answer that the SDK could not read. */
export function asVLMError(error: unknown, signal: AbortSignal): unknown {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof VLMError) return current;
  }
  if (signal.aborted) return signal.reason;
  return new VLMError('bad_reply', `The answer cannot be read (${error instanceof Error ? error.name : typeof error})`);
}
