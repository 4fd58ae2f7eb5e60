// Client for OpenAI-compatible servers (vLLM, Ollama, LM Studio), which often need no key.
import type { ClientSettings, VLMClient } from '../client.ts';
import { createChatClient } from './openai-chat.ts';

/** The SDK requires a key; such servers ignore it. */
const PLACEHOLDER_KEY = 'none';

export function createOpenAiCompatibleClient(settings: ClientSettings): VLMClient {
  return createChatClient({ ...settings, getApiKey: () => settings.getApiKey() || PLACEHOLDER_KEY });
}
