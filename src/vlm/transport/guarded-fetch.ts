// The fetch for all SDKs: limits the size of replies, removes keys from them, and classifies failures.
import { VLMError } from '../errors.ts';

/** Replies have a few kilobytes; with log-probabilities a few hundred. */
const MAX_REPLY_BYTES = 8_000_000;
const MAX_MESSAGE_LENGTH = 300;
const MAX_CONTENT_TYPE_LENGTH = 80;

interface GuardedFetchOptions {
  redact: (text: string) => string;
  /** For replies, whose text may be split: part of a key must not be masked before the rest is joined to it. */
  removeKeys: (text: string) => string;
  maxBytes?: number;
  fetch?: typeof fetch;
}

export function createGuardedFetch({
  redact,
  removeKeys,
  maxBytes = MAX_REPLY_BYTES,
  fetch: send = fetch,
}: GuardedFetchOptions): typeof fetch {
  return async (input, init) => {
    const signal = init?.signal ?? null;
    try {
      // A redirect could send the key to another host, so it counts as a failure.
      const response = await send(input, { ...init, redirect: 'manual' });
      const text = await readBounded(response, maxBytes);
      if (!response.ok) throw classifyFailure(response, redact(text));
      const contentType = response.headers.get('content-type');
      // Some servers send no content type; a type other than JSON is refused.
      if (contentType !== null && !/\bjson\b/i.test(contentType)) {
        throw new VLMError(
          'bad_reply',
          `Expected JSON from the provider but received ${redact(contentType).slice(0, MAX_CONTENT_TYPE_LENGTH)}`,
          { status: response.status },
        );
      }
      const hidden = findHiddenFailure(response, text, redact);
      if (hidden) throw hidden;
      // Drops the provider's headers, which may contain anything. The status is fixed: Response refuses a body for some.
      return new Response(removeKeys(text), { status: 200, headers: { 'content-type': 'application/json' } });
    } catch (error) {
      if (error instanceof VLMError) throw error;
      if (signal?.aborted) throw signal.reason;
      throw new VLMError(
        'network',
        `The provider cannot be reached or closed the connection (${findNetworkCode(error)})`,
      );
    }
  };
}

/** Reads the body up to the limit; the caller's signal cancels it. */
async function readBounded(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    // Throwing out of the loop cancels the stream.
    if (size > maxBytes)
      throw new VLMError('bad_reply', `Expected at most ${maxBytes} bytes from the provider but received more`, {
        status: response.status,
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function classifyFailure({ headers, status }: Pick<Response, 'headers' | 'status'>, body: string): VLMError {
  const { message, code, delayMs } = parseErrorBody(body);
  const text = `The provider answered ${status}`;
  const details = { status, retryAfterMs: parseRetryAfterMs(headers) ?? delayMs, providerSays: message };
  // Google answers 400 for an invalid key.
  if (status === 401 || status === 403 || (status === 400 && code === 'API_KEY_INVALID'))
    return new VLMError('authentication', text, details);
  // An account without credit answers 429 as well, but waiting does not help.
  if (status === 429)
    return new VLMError(code === 'insufficient_quota' ? 'authentication' : 'rate_limited', text, details);
  if (status >= 500 || status === 408) return new VLMError('unavailable', text, details);
  return new VLMError('bad_request', text, details);
}

/** Some routers answer 200 with only an error in the body: its code counts as the status, or 500 if it is not a status. */
function findHiddenFailure(
  { headers }: Response,
  text: string,
  redact: GuardedFetchOptions['redact'],
): VLMError | null {
  // Invalid JSON is left to the SDK.
  const body = toFields(parseJson(text));
  const hasAnswer = ['choices', 'content', 'candidates'].some((field) => Object.hasOwn(body, field));
  if (!body['error'] || hasAnswer) return null;
  const code = Number(toFields(body['error'])['code']);
  return classifyFailure({ headers, status: code >= 400 && code < 600 ? code : 500 }, redact(text));
}

interface ErrorBody {
  message: string;
  code: string;
  /** Google sends the retry delay in the body, not in a header. */
  delayMs: number | undefined;
}

/** Reads the known shapes of error bodies; others are ignored. */
function parseErrorBody(body: string): ErrorBody {
  const parsed = parseJson(body);
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  // Usually {"error": {"message": …}}; Ollama sends {"error": "…"}, other servers {"message": …} or {"detail": …}.
  const outer = toFields(first);
  const error =
    typeof outer['error'] === 'string'
      ? { message: outer['error'] }
      : outer['error']
        ? toFields(outer['error'])
        : outer;
  const details = (Array.isArray(error['details']) ? error['details'] : []).map(toFields);
  const reason = details.find((detail) => typeof detail['reason'] === 'string')?.['reason'];
  const wait = details
    .map(({ retryDelay }) => /^(\d+(?:\.\d+)?)s$/.exec(toText(retryDelay))?.[1])
    .find((seconds) => seconds !== undefined);
  return {
    message: (toText(error['message']) || toText(error['detail'])).slice(0, MAX_MESSAGE_LENGTH),
    code: toText(reason) || toText(error['code']),
    delayMs: wait === undefined ? undefined : Number(wait) * 1000,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const toFields = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

function parseRetryAfterMs(headers: Headers): number | undefined {
  const milliseconds = headers.get('retry-after-ms')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(milliseconds)) return Number(milliseconds);
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

/** Only a code such as ECONNRESET: the message may contain an address. */
function findNetworkCode(error: unknown): string {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && typeof current.code === 'string') return current.code;
  }
  return error instanceof Error ? error.name : 'unknown';
}
