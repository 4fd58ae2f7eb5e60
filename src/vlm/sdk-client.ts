// What all providers' clients have in common: the SDK is loaded once, on first use, and its errors become ours.
import type { VLMClient, VLMReply, VLMRequest } from './client.ts';
import { asVLMError } from './vlm-error.ts';

export function createSdkClient<Sdk>(create: () => Promise<Sdk>, ask: (sdk: Sdk, request: VLMRequest, signal: AbortSignal) => Promise<VLMReply>): VLMClient {
  let sdk: Promise<Sdk> | undefined;
  const load = () => sdk ??= create();
  return {
    warmUp: async () => { await load(); },
    async generate(request, signal) {
      try {
        return await ask(await load(), request, signal);
      } catch (error) {
        throw asVLMError(error, signal);
      }
    },
  };
}

/** Of a reply whose types promise a number and whose server may not keep it. */
export const tokenCount = (value: unknown): number => (typeof value === 'number' && value >= 0 ? value : 0);
