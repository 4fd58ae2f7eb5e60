// The fetch that all SDKs are given: bounds what comes back, takes keys out of it, and says what a failure means.
import { VLMError } from './vlm-error.ts';

/** An answer has a few kilobytes; with log-probabilities a few hundred. */
export const MAX_REPLY_BYTES = 8_000_000;
const MAX_QUOTE = 300;

export interface GuardedFetchOptions {
  redact: (text: string) => string;
  maxBytes?: number;
  fetch?: typeof fetch;
}

export function createGuardedFetch({ redact, maxBytes = MAX_REPLY_BYTES, fetch: send = fetch }: GuardedFetchOptions): typeof fetch {
  return async (input, init) => {
    const signal = init?.signal ?? null;
    try {
      // A redirect could carry the key to a stranger.
      const response = await send(input, { ...init, redirect: 'error' });
      const text = redact(await readBounded(response, maxBytes));
      if (!response.ok) throw failureOf(response, text);
      if (!/\bjson\b/i.test(response.headers.get('content-type') ?? '')) {
        throw new VLMError('bad_reply', `Expected JSON from the provider but received ${redact(response.headers.get('content-type') ?? 'no content type')}`, { status: response.status });
      }
      const hidden = hiddenFailureOf(response, text);
      if (hidden) throw hidden;
      // Headers stay behind: they may hold anything.
      return new Response(text, { status: response.status, headers: { 'content-type': 'application/json' } });
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
    if (size > maxBytes) throw new VLMError('bad_reply', `Expected at most ${maxBytes} bytes from the provider but received more`, { status: response.status });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function failureOf({ headers, status }: Pick<Response, 'headers' | 'status'>, body: string): VLMError {
  const { message, code } = quote(body);
  const sentence = `The provider answered ${status}`;
  const details = { status, retryAfterMs: retryAfterOf(headers), providerSays: message };
  if (status === 401 || status === 403) return new VLMError('authentication', sentence, details);
  // An empty account answers 429 as well, and waiting does not fill it.
  if (status === 429) return new VLMError(code === 'insufficient_quota' ? 'authentication' : 'rate_limited', sentence, details);
  if (status >= 500 || status === 408) return new VLMError('unavailable', sentence, details);
  return new VLMError('bad_request', sentence, details);
}

/** Routers answer 200 with nothing but an error in it: it means what its own code says, or, where that is no status, that the service is not well. */
function hiddenFailureOf({ headers }: Response, text: string): VLMError | null {
  try {
    const body = JSON.parse(text) as { error?: { code?: unknown; message?: unknown } | null } | null;
    const answers = ['choices', 'content', 'candidates'].some((field) => body !== null && Object.hasOwn(body, field));
    if (!body?.error || answers) return null;
    const code = Number(body.error.code);
    return failureOf({ headers, status: code >= 400 && code < 600 ? code : 500 }, text);
  } catch {
    // The SDK says it better.
    return null;
  }
}

/** The provider's own sentence where the body is one of the known shapes; strange bodies are not quoted at all. */
function quote(body: string): { message: string; code: string } {
  try {
    const parsed = JSON.parse(body) as { error?: { message?: unknown; code?: unknown; type?: unknown } };
    const { message, code } = parsed.error ?? {};
    return { message: typeof message === 'string' ? message.slice(0, MAX_QUOTE) : '', code: typeof code === 'string' ? code : '' };
  } catch {
    return { message: '', code: '' };
  }
}

function retryAfterOf(headers: Headers): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms') ?? NaN);
  if (milliseconds >= 0) return milliseconds;
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
