// Anthropic: messages with image blocks, JSON-schema output and prompt caching. It has no log-probabilities.
import type Anthropic from '@anthropic-ai/sdk';
import type {
  ContentBlockParam,
  Message,
  MessageCreateParamsNonStreaming,
  MessageParam,
} from '@anthropic-ai/sdk/resources/messages';
import type { ClientSettings, TokenUsage, VLMClient, VLMReply, VLMRequest } from '../client.ts';
import { createSdkClient, modelName, usageFrom } from './sdk-client.ts';
import { VLMError } from '../errors.ts';

export function createAnthropicClient(settings: ClientSettings): VLMClient {
  return createSdkClient(settings, {
    create: createSdk,
    ask: async (sdk, request, signal) =>
      readReply(await sdk.messages.create(bodyOf(request, settings), { signal }), settings.model),
  });
}

async function createSdk({ baseUrl, getApiKey, fetch }: ClientSettings): Promise<Anthropic> {
  const { default: Anthropic } = await import('@anthropic-ai/sdk');
  return new Anthropic({
    apiKey: getApiKey(),
    authToken: null,
    baseURL: baseUrl,
    maxRetries: 0,
    fetch,
    logLevel: 'off',
    openTelemetry: false,
  });
}

function bodyOf(request: VLMRequest, { model, capabilities, extra }: ClientSettings): MessageCreateParamsNonStreaming {
  const { schema } = request;
  return {
    model,
    max_tokens: request.maxTokens,
    // The same for every request of its role: what is long enough for the provider's cache is kept there.
    system: [{ type: 'text', text: request.system, cache_control: { type: 'ephemeral' } }],
    messages: messagesOf(request),
    ...(capabilities.sampling === 'none' ? {} : { temperature: request.temperature }),
    ...(capabilities.sampling === 'both' ? { top_p: request.topP } : {}),
    ...(schema ? { output_config: { format: { type: 'json_schema', schema: schema.document } } } : {}),
    ...extra,
  };
}

function messagesOf({ turns, images }: VLMRequest): MessageParam[] {
  const [first, ...rest] = turns;
  const shown = images.flatMap(({ label, mediaType, base64 }, index): ContentBlockParam[] => [
    { type: 'text', text: label },
    {
      type: 'image',
      source: { type: 'base64', media_type: mediaType, data: base64 },
      // Up to the last picture every retry repeats itself, and the later calls of a request often do.
      ...(index === images.length - 1 ? { cache_control: { type: 'ephemeral' as const } } : {}),
    },
  ]);
  return [
    { role: 'user', content: [...shown, { type: 'text', text: first?.text ?? '' }] },
    ...rest.map(({ role, text }): MessageParam => ({ role, content: text })),
  ];
}

/** It stopped for want of room, of the answer or of the whole conversation. */
const CUT_OFF: readonly (string | null)[] = ['max_tokens', 'model_context_window_exceeded'];

function readReply(message: Message, model: string): VLMReply {
  if (!Array.isArray(message.content)) throw new VLMError('bad_reply', 'The provider answered without any content');
  if (message.stop_reason === 'refusal') throw new VLMError('refusal', 'The model refused to answer');
  const text = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const complete = !CUT_OFF.includes(message.stop_reason);
  if (text === '' && complete) throw new VLMError('bad_reply', 'The provider answered without any text');
  const usage = message.usage as Message['usage'] | undefined;
  return { text, model: modelName(message.model, model), complete, tokens: null, usage: usage ? usageOf(usage) : null };
}

/** Anthropic counts what it read from or wrote to its cache apart from the rest. */
function usageOf({
  input_tokens,
  output_tokens,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: written,
}: Message['usage']): TokenUsage | null {
  return usageFrom({ input: input_tokens + (cached ?? 0) + (written ?? 0), cached, written, output: output_tokens });
}
