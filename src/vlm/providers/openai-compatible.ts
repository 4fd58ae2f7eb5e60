// Any server that speaks chat completions (vLLM, Ollama, LM Studio): found by its address, often without a key.
import type { ClientSettings, VLMClient } from '../client.ts';
import { createChatClient } from './openai-chat.ts';

/** The SDK insists on a key, and such servers ignore it. */
const NO_KEY = 'none';

export function createOpenAiCompatibleClient(settings: ClientSettings): VLMClient {
  return createChatClient({ ...settings, getApiKey: () => settings.getApiKey() || NO_KEY });
}
