// All error codes in one table, grouped by cause: input, load, tools, models, the service itself.
import type { Issue } from '../schemas/validation/explain.ts';

interface ErrorKind {
  status: number;
  title: string;
  /** Whether the same request may succeed later. */
  retryable: boolean;
}

export const ERROR_KINDS = {
  IQA_INPUT_MALFORMED: { status: 400, title: 'Malformed request', retryable: false },
  IQA_INPUT_NOT_FOUND: { status: 404, title: 'Not found', retryable: false },
  IQA_INPUT_METHOD: { status: 405, title: 'Method not allowed', retryable: false },
  IQA_INPUT_TIMEOUT: { status: 408, title: 'Request timeout', retryable: true },
  IQA_INPUT_ID_TAKEN: { status: 409, title: 'Assessment id already exists', retryable: false },
  IQA_INPUT_RUN_ACTIVE: { status: 409, title: 'Assessment is still running', retryable: true },
  IQA_INPUT_UNCHANGED: { status: 412, title: 'Not modified', retryable: false },
  IQA_INPUT_TOO_LARGE: { status: 413, title: 'Request too large', retryable: false },
  IQA_INPUT_MEDIA_TYPE: { status: 415, title: 'Unsupported media type', retryable: false },
  IQA_INPUT_INVALID: { status: 422, title: 'Validation failed', retryable: false },
  IQA_INPUT_IMAGE: { status: 422, title: 'Unreadable image', retryable: false },
  IQA_INPUT_SIZE_MISMATCH: { status: 422, title: 'Image and reference differ in size', retryable: false },
  IQA_INTERNAL: { status: 500, title: 'Internal server error', retryable: true },
  IQA_MODEL_FAILED: { status: 502, title: 'Reasoner failed', retryable: true },
  IQA_BUSY: { status: 503, title: 'Service busy', retryable: true },
  IQA_STORE_UNAVAILABLE: { status: 503, title: 'Checkpoint store unavailable', retryable: true },
  IQA_TOOL_UNAVAILABLE: { status: 503, title: 'Measurement tools unavailable', retryable: true },
  IQA_TOOL_FAILED: { status: 502, title: 'Measurement tools failed', retryable: true },
  IQA_MODEL_TIMEOUT: { status: 504, title: 'Reasoner timeout', retryable: true },
  IQA_GATEWAY_UNREACHABLE: { status: 502, title: 'Service unreachable', retryable: true },
  IQA_GATEWAY_TIMEOUT: { status: 504, title: 'Gateway timeout', retryable: true },
  IQA_DEADLINE: { status: 504, title: 'Assessment deadline exceeded', retryable: true },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_KINDS;

interface ErrorDetails {
  cause?: unknown;
  issues?: readonly Issue[];
  /** Seconds after which a retry makes sense. */
  retryAfter?: number;
  allow?: string;
  etag?: string;
}

/** An error with a code of the table. Its message is public. */
export class IqaError extends Error {
  override readonly name = 'IqaError';
  readonly code: ErrorCode;
  readonly issues: readonly Issue[] | undefined;
  readonly retryAfter: number | undefined;
  readonly allow: string | undefined;
  readonly etag: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.issues = details.issues;
    this.retryAfter = details.retryAfter;
    this.allow = details.allow;
    this.etag = details.etag;
  }

  get status(): number {
    return ERROR_KINDS[this.code].status;
  }
}

/** All back ends of a role failed. */
export class ModelFailedError extends IqaError {
  /** Attempts over all back ends. */
  readonly attempts: number;

  constructor(code: ErrorCode, message: string, attempts: number) {
    super(code, message);
    this.attempts = attempts;
  }
}

/** The request itself is wrong: no retry and no other back end helps. */
export const isInputError = (error: unknown): error is IqaError =>
  error instanceof IqaError && error.code.startsWith('IQA_INPUT_');

/** An invalid setting or configuration file: the process must not start. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export const isAbort = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');

/** The error's own code, or a timeout or failure of the model. */
export function getReasonerErrorCode(error: unknown): ErrorCode {
  if (error instanceof IqaError) return error.code;
  return isAbort(error) ? 'IQA_MODEL_TIMEOUT' : 'IQA_MODEL_FAILED';
}

export const getMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The message of an error without paths and addresses; the log has the original. */
export function publicMessage(error: unknown): string {
  return getMessage(error)
    .replaceAll(/\bhttps?:\/\/\S+/g, '(address)')
    .replaceAll(/(?<![\w.])\/[\w.@-]+(\/[\w.@-]+)+/g, '(path)')
    .replaceAll(/\b\d{1,3}(\.\d{1,3}){3}(:\d+)?/g, '(address)');
}
