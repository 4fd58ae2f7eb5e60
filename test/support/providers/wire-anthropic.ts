// Anthropic's side of the provider double, typed by Anthropic's own SDK.
import type { IncomingMessage } from 'node:http';
import type { Message, MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages';
import { KEYS, type JsonSchema, type SeenRequest, type Speech } from './provider-double.ts';

export function readAnthropic({ headers }: IncomingMessage, body: MessageCreateParamsNonStreaming): SeenRequest {
  if (headers.authorization !== `Bearer ${KEYS.anthropic}` && headers['x-api-key'] !== KEYS.anthropic)
    throw new Error('Expected the key in a header');
  if (!headers['anthropic-version']) throw new Error('Expected anthropic-version');
  if ('temperature' in body || 'top_p' in body) throw new Error('sampling parameters are not accepted');
  const marks = JSON.stringify(body).match(/"cache_control":\{"type":"ephemeral"\}/g)?.length ?? 0;
  if (marks === 0 || marks > 4) throw new Error('Expected one to four marks for the prompt cache');
  const images: SeenRequest['images'] = [];
  const turns = body.messages.map(({ role, content }) => {
    const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
    const text = blocks
      .map((block) => {
        if (block.type === 'text') return block.text;
        if (block.type !== 'image' || block.source.type !== 'base64')
          throw new Error(`Expected text or an image but received ${block.type}`);
        images.push({ mediaType: block.source.media_type, data: Buffer.from(block.source.data, 'base64') });
        return '';
      })
      .join('\n');
    if (text.trim() === '') throw new Error('Expected text in every turn');
    if (role !== 'user' && role !== 'assistant') throw new Error(`Expected user or assistant but received ${role}`);
    return { role, text };
  });
  const system =
    typeof body.system === 'string' ? body.system : (body.system ?? []).map((block) => block.text).join('\n');
  return {
    wire: 'anthropic',
    model: body.model,
    system,
    turns,
    images,
    schema: (body.output_config?.format?.schema as JsonSchema | undefined) ?? null,
    temperature: undefined,
    topP: undefined,
    maxTokens: body.max_tokens,
    logprobs: 0,
  };
}

export function writeAnthropic(
  { model }: SeenRequest,
  { text, finish = 'complete', usage = { input: 900, output: 120 } }: Speech,
): Partial<Message> {
  return {
    id: 'msg_double',
    type: 'message',
    role: 'assistant',
    model,
    content: finish === 'empty' || finish === 'refusal' ? [] : [{ type: 'text', text, citations: null }],
    stop_reason: finish === 'length' ? 'max_tokens' : finish === 'refusal' ? 'refusal' : 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: usage.input,
      output_tokens: usage.output,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    } as Message['usage'],
  };
}
