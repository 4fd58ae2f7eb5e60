// Anthropic client: messages with image blocks, JSON-schema output and prompt caching; no log-probabilities.
import type Anthropic from '@anthropic-ai/sdk';
import type {
  ContentBlockParam,
  Message,
  MessageCreateParamsNonStreaming,
  MessageParam,
} from '@anthropic-ai/sdk/resources/messages';
import type { ClientSettings, TokenUsage, VLMClient, VLMReply, VLMRequest } from '../client.ts';
import { createSdkClient, pickModelName, buildUsage } from './sdk-client.ts';
import { VLMError } from '../errors.ts';

export function createAnthropicClient(settings: ClientSettings): VLMClient {
  return createSdkClient(settings, {
    create: createSdk,
    ask: async (sdk, request, signal) =>
      parseReply(await sdk.messages.create(buildBody(request, settings), { signal }), settings.model),
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

function buildBody(
  request: VLMRequest,
  { model, capabilities, extra }: ClientSettings,
): MessageCreateParamsNonStreaming {
  const { schema } = request;
  return {
    model,
    max_tokens: request.maxTokens,
    // Identical for all requests of a role, so that the provider can cache it.
    system: [{ type: 'text', text: request.system, cache_control: { type: 'ephemeral' } }],
    messages: buildMessages(request),
    ...(capabilities.sampling === 'none' ? {} : { temperature: request.temperature }),
    ...(capabilities.sampling === 'both' ? { top_p: request.topP } : {}),
    ...(schema ? { output_config: { format: { type: 'json_schema', schema: schema.document } } } : {}),
    ...extra,
  };
}

function buildMessages({ turns, images }: VLMRequest): MessageParam[] {
  const [first, ...rest] = turns;
  const imageBlocks = images.flatMap(({ label, mediaType, base64 }, index): ContentBlockParam[] => [
    { type: 'text', text: label },
    {
      type: 'image',
      source: { type: 'base64', media_type: mediaType, data: base64 },
      // Retries, and often later calls of a request, repeat everything up to the last image.
      ...(index === images.length - 1 ? { cache_control: { type: 'ephemeral' as const } } : {}),
    },
  ]);
  return [
    { role: 'user', content: [...imageBlocks, { type: 'text', text: first?.text ?? '' }] },
    ...rest.map(({ role, text }): MessageParam => ({ role, content: text })),
  ];
}

const TRUNCATION_REASONS: readonly (string | null)[] = ['max_tokens', 'model_context_window_exceeded'];

function parseReply(message: Message, model: string): VLMReply {
  if (!Array.isArray(message.content)) throw new VLMError('bad_reply', 'The provider answered without any content');
  if (message.stop_reason === 'refusal') throw new VLMError('refusal', 'The model refused to answer');
  const text = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const complete = !TRUNCATION_REASONS.includes(message.stop_reason);
  if (text === '' && complete) throw new VLMError('bad_reply', 'The provider answered without any text');
  const usage = message.usage as Message['usage'] | undefined;
  return {
    text,
    model: pickModelName(message.model, model),
    complete,
    tokens: null,
    usage: usage ? parseUsage(usage) : null,
  };
}

/** Anthropic reports cached tokens separately from the other input tokens. */
function parseUsage({
  input_tokens,
  output_tokens,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: written,
}: Message['usage']): TokenUsage | null {
  return buildUsage({ input: input_tokens + (cached ?? 0) + (written ?? 0), cached, written, output: output_tokens });
}
