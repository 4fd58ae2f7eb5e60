// OpenAI client: chat completions with images as data URLs, strict JSON schemas and log-probabilities.
import type { ClientSettings, VLMClient } from '../client.ts';
import { createChatClient } from './openai-chat.ts';

export function createOpenAiClient(settings: ClientSettings): VLMClient {
  return createChatClient(settings);
}
