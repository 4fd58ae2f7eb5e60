// What all providers' clients have in common: the SDK is loaded once, on first use, and its errors become ours.
import type { ClientSettings, TokenCandidate, TokenUsage, VLMClient, VLMReply, VLMRequest } from '../client.ts';
import { asVLMError } from '../errors.ts';

export interface SdkUse<Sdk> {
  create: (settings: ClientSettings) => Promise<Sdk>;
  ask: (sdk: Sdk, request: VLMRequest, signal: AbortSignal) => Promise<VLMReply>;
}

export function createSdkClient<Sdk>(settings: ClientSettings, { create, ask }: SdkUse<Sdk>): VLMClient {
  let sdk: Promise<Sdk> | undefined;
  const load = () => (sdk ??= create(settings));
  return {
    warmUp: async () => {
      await load();
    },
    async generate(request, signal) {
      try {
        const reply = await ask(await load(), request, signal);
        // Once more than on the wire: text that came in pieces is whole only now.
        return { ...reply, text: settings.redact(reply.text), model: settings.redact(reply.model) };
      } catch (error) {
        throw asVLMError(error, signal);
      }
    },
  };
}

interface ToldTokens {
  /** All of it, what was cached or written to the cache included. */
  input: unknown;
  cached?: unknown;
  written?: unknown;
  output: unknown;
}

/** The types promise numbers and servers may not keep it ("1e999" is JSON too): what is no count makes the whole unknown, what is left out is none. */
export function usageFrom({ input, cached, written, output }: ToldTokens): TokenUsage | null {
  const [inputTokens, cachedInputTokens, writtenInputTokens, outputTokens] = [
    input,
    cached ?? 0,
    written ?? 0,
    output ?? 0,
  ].map(countOf);
  if (
    inputTokens === undefined ||
    cachedInputTokens === undefined ||
    writtenInputTokens === undefined ||
    outputTokens === undefined
  )
    return null;
  return { inputTokens, cachedInputTokens, writtenInputTokens, outputTokens };
}

const MOST_TOKENS = 1e9;
const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= MOST_TOKENS ? Math.round(value) : undefined;

const LONGEST_NAME = 200;
/** The model as the reply names it, or as it was asked for where the reply names none. */
export const modelName = (told: unknown, asked: string): string =>
  typeof told === 'string' && told.trim() !== '' ? told.slice(0, LONGEST_NAME) : asked;

/** Log-probabilities are an addition: those that are none are left out, and do not cost the answer. */
export const usableTokens = (
  list: unknown,
  toToken: (item: Record<string, unknown>) => { token: unknown; logprob: unknown },
): TokenCandidate[] =>
  (Array.isArray(list) ? list : []).flatMap((item: unknown) => {
    const { token, logprob } =
      typeof item === 'object' && item !== null
        ? toToken(item as Record<string, unknown>)
        : { token: null, logprob: null };
    return typeof token === 'string' ? [{ token, logprob: typeof logprob === 'number' ? logprob : -Infinity }] : [];
  });
