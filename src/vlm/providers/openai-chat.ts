// Chat-completions client, for OpenAI and compatible servers.
import type OpenAI from 'openai';
import type {
  ChatCompletion,
  ChatCompletionContentPart,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { ClientSettings, TokenLogprobs, VLMClient, VLMReply, VLMRequest } from '../client.ts';
import { createSdkClient, pickModelName, parseTokenList, buildUsage } from './sdk-client.ts';
import { VLMError } from '../errors.ts';

export function createChatClient(settings: ClientSettings): VLMClient {
  return createSdkClient(settings, {
    create: createSdk,
    ask: async (sdk, request, signal) =>
      parseReply(await sdk.chat.completions.create(buildBody(request, settings), { signal }), settings.model),
  });
}

async function createSdk({ baseUrl, getApiKey, fetch }: ClientSettings): Promise<OpenAI> {
  const { default: OpenAI } = await import('openai');
  // All explicit: the SDK would otherwise read environment variables.
  return new OpenAI({
    apiKey: getApiKey(),
    baseURL: baseUrl,
    organization: null,
    project: null,
    maxRetries: 0,
    fetch,
    logLevel: 'off',
  });
}

function buildBody(
  request: VLMRequest,
  { model, capabilities, maxTokensField, extra }: ClientSettings,
): ChatCompletionCreateParamsNonStreaming {
  const { schema, logprobs } = request;
  return {
    model,
    messages: buildMessages(request),
    [maxTokensField]: request.maxTokens,
    ...(capabilities.sampling === 'none' ? {} : { temperature: request.temperature }),
    ...(capabilities.sampling === 'both' ? { top_p: request.topP } : {}),
    ...(schema
      ? {
          response_format: {
            type: 'json_schema',
            json_schema: { name: schema.name, strict: true, schema: schema.document },
          },
        }
      : {}),
    ...(logprobs > 0 ? { logprobs: true, top_logprobs: logprobs } : {}),
    ...extra,
  };
}

function buildMessages({ system, turns, images }: VLMRequest): ChatCompletionMessageParam[] {
  const [first, ...rest] = turns;
  const imageParts = images.flatMap(({ label, mediaType, base64 }): ChatCompletionContentPart[] => [
    { type: 'text', text: label },
    { type: 'image_url', image_url: { url: `data:${mediaType};base64,${base64}`, detail: 'high' } },
  ]);
  return [
    { role: 'system', content: system },
    { role: 'user', content: [...imageParts, { type: 'text', text: first?.text ?? '' }] },
    ...rest.map(({ role, text }): ChatCompletionMessageParam => ({ role, content: text })),
  ];
}

function parseReply(completion: ChatCompletion, model: string): VLMReply {
  const choice = (completion.choices as ChatCompletion['choices'] | undefined)?.[0];
  if (!choice?.message) throw new VLMError('bad_reply', 'The provider answered without any choice');
  const { message, finish_reason, logprobs } = choice;
  if (message.refusal || finish_reason === 'content_filter')
    throw new VLMError('refusal', 'The model refused to answer');
  const usage = completion.usage as ChatCompletion['usage'] | null;
  return {
    text: joinText(message.content),
    // Some compatible servers omit the model.
    model: pickModelName(completion.model, model),
    complete: (finish_reason as string) !== 'length',
    tokens: Array.isArray(logprobs?.content) ? logprobs.content.map(parseToken) : null,
    usage: buildUsage({
      input: usage?.prompt_tokens,
      cached: usage?.prompt_tokens_details?.cached_tokens,
      output: usage?.completion_tokens,
    }),
  };
}

/** A string by the API's specification; some servers send a list of parts, as in requests. */
function joinText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => {
      const text: unknown = typeof part === 'object' && part !== null && 'text' in part ? part.text : part;
      return typeof text === 'string' ? text : '';
    })
    .join('');
}

/** Not every server follows the declared types. An invalid token becomes an empty one, to keep the positions. */
function parseToken(item: unknown): TokenLogprobs {
  const read = (list: unknown) => parseTokenList(list, ({ token, logprob }) => ({ token, logprob }));
  const alternatives =
    typeof item === 'object' && item !== null && 'top_logprobs' in item ? read(item.top_logprobs) : [];
  return { token: '', logprob: -Infinity, ...read([item])[0], alternatives };
}
