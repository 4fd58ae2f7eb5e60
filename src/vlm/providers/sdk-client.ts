// Shared by all provider clients: loads the SDK once, on first use, and converts its errors.
import type { ClientSettings, TokenCandidate, TokenUsage, VLMClient, VLMReply, VLMRequest } from '../client.ts';
import { asVLMError } from '../errors.ts';

interface SdkAdapter<Sdk> {
  create: (settings: ClientSettings) => Promise<Sdk>;
  ask: (sdk: Sdk, request: VLMRequest, signal: AbortSignal) => Promise<VLMReply>;
}

export function createSdkClient<Sdk>(settings: ClientSettings, { create, ask }: SdkAdapter<Sdk>): VLMClient {
  let sdk: Promise<Sdk> | undefined;
  const load = () => (sdk ??= create(settings));
  return {
    warmUp: async () => {
      await load();
    },
    async generate(request, signal) {
      try {
        const reply = await ask(await load(), request, signal);
        // Redacted again after guarded-fetch: split text is joined only now.
        return { ...reply, text: settings.redact(reply.text), model: settings.redact(reply.model) };
      } catch (error) {
        throw asVLMError(error, signal);
      }
    },
  };
}

interface ReportedUsage {
  /** Total, including tokens read from and written to the cache. */
  input: unknown;
  cached?: unknown;
  written?: unknown;
  output: unknown;
}

/** Servers may send anything ("1e999" is valid JSON): an invalid count makes the usage unknown, an omitted one counts as 0. */
export function buildUsage({ input, cached, written, output }: ReportedUsage): TokenUsage | null {
  const [inputTokens, cachedInputTokens, writtenInputTokens, outputTokens] = [
    input,
    cached ?? 0,
    written ?? 0,
    output ?? 0,
  ].map(toCount);
  if (
    inputTokens === undefined ||
    cachedInputTokens === undefined ||
    writtenInputTokens === undefined ||
    outputTokens === undefined
  )
    return null;
  return { inputTokens, cachedInputTokens, writtenInputTokens, outputTokens };
}

const MAX_TOKENS = 1e9;
const toCount = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= MAX_TOKENS ? Math.round(value) : undefined;

const MAX_NAME_LENGTH = 200;
/** The model named in the reply, or the requested one. */
export const pickModelName = (reported: unknown, requested: string): string =>
  typeof reported === 'string' && reported.trim() !== '' ? reported.slice(0, MAX_NAME_LENGTH) : requested;

/** Log-probabilities are optional: invalid ones are dropped without failing the reply. */
export const parseTokenList = (
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
