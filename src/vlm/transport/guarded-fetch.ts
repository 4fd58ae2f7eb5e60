// The fetch that all SDKs are given: bounds what comes back, takes keys out of it, and says what a failure means.
import { VLMError } from '../errors.ts';

/** An answer has a few kilobytes; with log-probabilities a few hundred. */
export const MAX_REPLY_BYTES = 8_000_000;
const MAX_QUOTE = 300;
const MAX_TYPE = 80;

export interface GuardedFetchOptions {
  redact: (text: string) => string;
  /** Of answers, whose text may come in pieces: half a key must not be hidden before the other half is beside it. */
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
      // A redirect could carry the key to a stranger: it is an answer like any other that is none.
      const response = await send(input, { ...init, redirect: 'manual' });
      const text = await readBounded(response, maxBytes);
      if (!response.ok) throw failureOf(response, redact(text));
      const contentType = response.headers.get('content-type');
      // A small server may not say what it sends; whoever says that it is something else is believed.
      if (contentType !== null && !/\bjson\b/i.test(contentType)) {
        throw new VLMError(
          'bad_reply',
          `Expected JSON from the provider but received ${redact(contentType).slice(0, MAX_TYPE)}`,
          { status: response.status },
        );
      }
      const hidden = hiddenFailureOf(response, text, redact);
      if (hidden) throw hidden;
      // Headers stay behind: they may hold anything. A status that allows no body would be refused here.
      return new Response(removeKeys(text), { status: 200, headers: { 'content-type': 'application/json' } });
    } catch (error) {
      if (error instanceof VLMError) throw error;
      if (signal?.aborted) throw signal.reason;
      throw new VLMError('network', `The provider cannot be reached or hung up (${networkCode(error)})`);
    }
  };
}

/** The whole body, under the caller's signal, but never more than the limit. */
async function readBounded(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    // Leaving the loop cancels the stream.
    if (size > maxBytes)
      throw new VLMError('bad_reply', `Expected at most ${maxBytes} bytes from the provider but received more`, {
        status: response.status,
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function failureOf({ headers, status }: Pick<Response, 'headers' | 'status'>, body: string): VLMError {
  const { message, code, delayMs } = quote(body);
  const sentence = `The provider answered ${status}`;
  const details = { status, retryAfterMs: retryAfterOf(headers) ?? delayMs, providerSays: message };
  // Google answers 400 to a key that it does not know.
  if (status === 401 || status === 403 || (status === 400 && code === 'API_KEY_INVALID'))
    return new VLMError('authentication', sentence, details);
  // An empty account answers 429 as well, and waiting does not fill it.
  if (status === 429)
    return new VLMError(code === 'insufficient_quota' ? 'authentication' : 'rate_limited', sentence, details);
  if (status >= 500 || status === 408) return new VLMError('unavailable', sentence, details);
  return new VLMError('bad_request', sentence, details);
}

/** Routers answer 200 with nothing but an error in it: it means what its own code says, or, where that is no status, that the service is not well. */
function hiddenFailureOf({ headers }: Response, text: string, redact: GuardedFetchOptions['redact']): VLMError | null {
  // What is no JSON the SDK says better.
  const body = fieldsOf(parseJson(text));
  const answers = ['choices', 'content', 'candidates'].some((field) => Object.hasOwn(body, field));
  if (!body['error'] || answers) return null;
  const code = Number(fieldsOf(body['error'])['code']);
  return failureOf({ headers, status: code >= 400 && code < 600 ? code : 500 }, redact(text));
}

interface Quoted {
  message: string;
  code: string;
  /** Google asks for a wait in the body, not in a header. */
  delayMs: number | undefined;
}

/** The provider's own sentence where the body is one of the known shapes; strange bodies are not quoted at all. */
function quote(body: string): Quoted {
  const parsed = parseJson(body);
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  // {"error": {"message": …}} is everybody's; Ollama has {"error": "…"}, other servers {"message": …} or {"detail": …}.
  const outer = fieldsOf(first);
  const error =
    typeof outer['error'] === 'string'
      ? { message: outer['error'] }
      : outer['error']
        ? fieldsOf(outer['error'])
        : outer;
  const details = (Array.isArray(error['details']) ? error['details'] : []).map(fieldsOf);
  const reason = details.find((detail) => typeof detail['reason'] === 'string')?.['reason'];
  const wait = details
    .map(({ retryDelay }) => /^(\d+(?:\.\d+)?)s$/.exec(textOf(retryDelay))?.[1])
    .find((seconds) => seconds !== undefined);
  return {
    message: (textOf(error['message']) || textOf(error['detail'])).slice(0, MAX_QUOTE),
    code: textOf(reason) || textOf(error['code']),
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

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function retryAfterOf(headers: Headers): number | undefined {
  const milliseconds = headers.get('retry-after-ms')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(milliseconds)) return Number(milliseconds);
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

/** A code such as ECONNRESET, and nothing else of the error: its text may hold an address. */
function networkCode(error: unknown): string {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && typeof current.code === 'string') return current.code;
  }
  return error instanceof Error ? error.name : 'unknown';
}
