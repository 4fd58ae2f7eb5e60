// OpenAI's side of the provider double, typed by OpenAI's own SDK.
import type { IncomingMessage } from 'node:http';
import type {
  ChatCompletion,
  ChatCompletionContentPart,
  ChatCompletionCreateParamsNonStreaming,
} from 'openai/resources/chat/completions';
import { KEYS, type JsonSchema, type SeenRequest, type Speech } from './provider-double.ts';
import { tokensOf } from './token-logprobs.ts';

export function readOpenAi({ headers }: IncomingMessage, body: ChatCompletionCreateParamsNonStreaming): SeenRequest {
  if (headers.authorization !== `Bearer ${KEYS.openai}` && headers.authorization !== 'Bearer none')
    throw new Error('Expected the key in the authorization header');
  if (headers['content-type'] !== 'application/json') throw new Error('Expected JSON');
  const [system, ...rest] = body.messages;
  if (system?.role !== 'system' || typeof system.content !== 'string')
    throw new Error('Expected the system message first');
  const format = body.response_format;
  if (
    format &&
    (format.type !== 'json_schema' ||
      format.json_schema.strict !== true ||
      !/^[\w-]{1,64}$/.test(format.json_schema.name))
  )
    throw new Error('Expected a strict, named JSON schema');
  if ((body.top_logprobs ?? 0) > 20 || (body.top_logprobs !== undefined && body.logprobs !== true))
    throw new Error('Expected at most 20 top_logprobs, with logprobs');
  const images: SeenRequest['images'] = [];
  const turns = rest.map(({ role, content }) => {
    const parts = (
      typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
    ) as ChatCompletionContentPart[];
    const text = parts
      .map((part) => {
        if (part.type === 'text') return part.text;
        if (part.type !== 'image_url') throw new Error(`Expected text or an image but received ${part.type}`);
        const match = /^data:([\w/]+);base64,(.+)$/.exec(part.image_url.url);
        if (!match?.[1] || !match[2]) throw new Error('Expected a data address');
        images.push({ mediaType: match[1], data: Buffer.from(match[2], 'base64') });
        return '';
      })
      .join('\n');
    if (role !== 'user' && role !== 'assistant') throw new Error(`Expected user or assistant but received ${role}`);
    return { role, text };
  });
  const { max_tokens: maxTokens } = body as { max_tokens?: number };
  return {
    wire: 'openai',
    model: body.model,
    system: system.content,
    turns,
    images,
    schema: format?.type === 'json_schema' ? (format.json_schema.schema as JsonSchema) : null,
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    maxTokens: maxTokens ?? body.max_completion_tokens ?? undefined,
    logprobs: body.top_logprobs ?? 0,
  };
}

export function writeOpenAi(
  { model, logprobs }: SeenRequest,
  { text, levels, finish = 'complete', usage = { input: 900, output: 120 } }: Speech,
): ChatCompletion {
  const tokens = logprobs > 0 ? tokensOf(text, levels, logprobs) : null;
  return {
    id: 'chatcmpl-double',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: `${model}-double`,
    choices:
      finish === 'empty'
        ? []
        : [
            {
              index: 0,
              finish_reason: finish === 'length' ? 'length' : 'stop',
              message: {
                role: 'assistant',
                content: finish === 'refusal' ? null : text,
                refusal: finish === 'refusal' ? 'I cannot help with that.' : null,
              },
              logprobs: tokens
                ? {
                    content: tokens.map(({ token, logprob, alternatives }) => ({
                      token,
                      logprob,
                      bytes: null,
                      top_logprobs: alternatives.map((item) => ({ ...item, bytes: null })),
                    })),
                    refusal: null,
                  }
                : null,
            },
          ],
    usage: { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output },
  };
}
