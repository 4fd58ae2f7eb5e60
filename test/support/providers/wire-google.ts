// Google's side of the provider double, typed by Google's own SDK.
import type { IncomingMessage } from 'node:http';
import type { Content, GenerateContentResponse, GenerationConfig, Part } from '@google/genai';
import { KEYS, type JsonSchema, type SeenRequest, type Speech } from './provider-double.ts';
import { tokensOf } from './token-logprobs.ts';

interface Body {
  contents: Content[];
  systemInstruction?: Content;
  generationConfig?: GenerationConfig & { responseJsonSchema?: unknown };
}

export function readGoogle({ headers, url }: IncomingMessage, body: Body): SeenRequest {
  if (headers['x-goog-api-key'] !== KEYS.google) throw new Error('Expected the key in x-goog-api-key');
  if (url?.includes('key=')) throw new Error('Expected no key in the address');
  const config = body.generationConfig ?? {};
  if (config.responseJsonSchema && config.responseMimeType !== 'application/json')
    throw new Error('Expected the JSON media type with a schema');
  if (config.logprobs !== undefined && config.responseLogprobs !== true)
    throw new Error('Expected responseLogprobs with logprobs');
  const images: SeenRequest['images'] = [];
  const turns = body.contents.map(({ role, parts }) => ({
    role: role === 'model' ? ('assistant' as const) : ('user' as const),
    text: (parts ?? [])
      .map((part: Part) => {
        if (part.inlineData)
          images.push({
            mediaType: part.inlineData.mimeType ?? '',
            data: Buffer.from(part.inlineData.data ?? '', 'base64'),
          });
        return part.text ?? '';
      })
      .join('\n'),
  }));
  return {
    wire: 'google',
    model: /models\/([^:]+):/.exec(url ?? '')?.[1] ?? '',
    turns,
    images,
    system: (body.systemInstruction?.parts ?? []).map((part) => part.text ?? '').join('\n'),
    schema: (config.responseJsonSchema as JsonSchema | undefined) ?? null,
    temperature: config.temperature,
    topP: config.topP,
    maxTokens: config.maxOutputTokens,
    logprobs: config.logprobs ?? 0,
  };
}

export function writeGoogle(
  { model, logprobs }: SeenRequest,
  { text, levels, finish = 'complete', usage = { input: 900, output: 120 } }: Speech,
): Partial<GenerateContentResponse> {
  const tokens = logprobs > 0 ? tokensOf(text, levels, logprobs) : null;
  const finishReason = { complete: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY', empty: 'STOP' }[finish];
  return {
    candidates:
      finish === 'empty'
        ? []
        : [
            {
              content: { role: 'model', parts: [{ text: finish === 'refusal' ? '' : text }] },
              finishReason: finishReason as never,
              ...(tokens
                ? {
                    logprobsResult: {
                      chosenCandidates: tokens.map(({ token, logprob }) => ({ token, logProbability: logprob })),
                      topCandidates: tokens.map(({ alternatives }) => ({
                        candidates: alternatives.map(({ token, logprob }) => ({ token, logProbability: logprob })),
                      })),
                    },
                  }
                : {}),
            },
          ],
    modelVersion: model,
    usageMetadata: { promptTokenCount: usage.input, candidatesTokenCount: usage.output },
  };
}
