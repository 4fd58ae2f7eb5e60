// One table of everything that can go wrong, by blame: the caller's input, a busy house, a tool, a model, ourselves.
import type { Issue } from '../schemas/validation/explain.ts';

interface ErrorKind {
  status: number;
  title: string;
  /** Whether the same request may succeed later. */
  retryable: boolean;
}

export const ERROR_KINDS = {
  IQA_INPUT_MALFORMED: { status: 400, title: 'The request cannot be read', retryable: false },
  IQA_INPUT_NOT_FOUND: { status: 404, title: 'There is nothing here', retryable: false },
  IQA_INPUT_METHOD: { status: 405, title: 'This method is not allowed here', retryable: false },
  IQA_INPUT_TIMEOUT: { status: 408, title: 'The request came too slowly', retryable: true },
  IQA_INPUT_ID_TAKEN: { status: 409, title: 'There is an assessment of this id already', retryable: false },
  IQA_INPUT_RUN_ACTIVE: { status: 409, title: 'The assessment is being worked on', retryable: true },
  IQA_INPUT_UNCHANGED: { status: 412, title: 'The answer has not changed', retryable: false },
  IQA_INPUT_TOO_LARGE: { status: 413, title: 'The request is too large', retryable: false },
  IQA_INPUT_MEDIA_TYPE: { status: 415, title: 'This media type is not accepted', retryable: false },
  IQA_INPUT_INVALID: { status: 422, title: 'The input does not fit', retryable: false },
  IQA_INPUT_IMAGE: { status: 422, title: 'The file cannot be read as an image', retryable: false },
  IQA_INPUT_SIZE_MISMATCH: { status: 422, title: 'Image and reference differ in size', retryable: false },
  IQA_INTERNAL: { status: 500, title: 'Something went wrong on our side', retryable: true },
  IQA_MODEL_FAILED: { status: 502, title: 'The reasoner failed', retryable: true },
  IQA_BUSY: { status: 503, title: 'Too much to do at the moment', retryable: true },
  IQA_STORE_UNAVAILABLE: { status: 503, title: 'The store of checkpoints is not available', retryable: true },
  IQA_TOOL_UNAVAILABLE: { status: 503, title: 'The measuring tools are not available', retryable: true },
  IQA_TOOL_FAILED: { status: 502, title: 'The measuring tools gave no usable answer', retryable: true },
  IQA_MODEL_TIMEOUT: { status: 504, title: 'The reasoner took too long', retryable: true },
  IQA_GATEWAY_UNREACHABLE: { status: 502, title: 'The service cannot be reached', retryable: true },
  IQA_GATEWAY_TIMEOUT: { status: 504, title: 'The service did not answer in time', retryable: true },
  IQA_DEADLINE: { status: 504, title: 'The assessment took too long', retryable: true },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_KINDS;

export interface ErrorDetails {
  cause?: unknown;
  issues?: readonly Issue[];
  /** Seconds after which a retry makes sense. */
  retryAfter?: number;
  allow?: string;
  etag?: string;
}

/** An error with a code of the table; its message is a public sentence. */
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

/** A setting or configuration file that is wrong: the process must not start. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export const isAbort = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
/** The code for a stage whose reasoner failed: its own where it has one. */
export function reasonerFailureCode(error: unknown): ErrorCode {
  if (error instanceof IqaError) return error.code;
  return isAbort(error) ? 'IQA_MODEL_TIMEOUT' : 'IQA_MODEL_FAILED';
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What of an error may leave the house: its sentence, without paths and addresses. The log has the rest. */
export function publicMessage(error: unknown): string {
  return messageOf(error)
    .replaceAll(/\bhttps?:\/\/\S+/g, '(address)')
    .replaceAll(/(?<![\w.])\/[\w.@-]+(\/[\w.@-]+)+/g, '(path)')
    .replaceAll(/\b\d{1,3}(\.\d{1,3}){3}(:\d+)?/g, '(address)');
}
