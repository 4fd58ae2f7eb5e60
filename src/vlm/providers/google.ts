// Google client: generateContent with inline images, a response schema and log-probabilities.
import type {
  Content,
  GenerateContentConfig,
  GenerateContentResponse,
  GoogleGenAI,
  LogprobsResult,
  Part,
} from '@google/genai';
import type { ClientSettings, TokenLogprobs, VLMClient, VLMReply, VLMRequest } from '../client.ts';
import { createSdkClient, pickModelName, parseTokenList, buildUsage } from './sdk-client.ts';
import { VLMError } from '../errors.ts';

export function createGoogleClient(settings: ClientSettings): VLMClient {
  return createSdkClient(settings, {
    create: createSdk,
    ask: async (sdk, request, signal) => {
      const config = buildConfig(request, settings, signal);
      return parseReply(
        await sdk.models.generateContent({ model: settings.model, contents: buildContents(request), config }),
        settings.model,
      );
    },
  });
}

async function createSdk({ baseUrl, getApiKey, fetch }: ClientSettings): Promise<GoogleGenAI> {
  const { GoogleGenAI } = await import('@google/genai');
  // Without retryOptions the SDK does not retry.
  return new GoogleGenAI({ apiKey: getApiKey(), vertexai: false, httpOptions: { baseUrl, fetch } });
}

function buildConfig(
  request: VLMRequest,
  { capabilities, extra }: ClientSettings,
  signal: AbortSignal,
): GenerateContentConfig {
  const { schema, logprobs } = request;
  return {
    systemInstruction: request.system,
    maxOutputTokens: request.maxTokens,
    ...(capabilities.sampling === 'none' ? {} : { temperature: request.temperature }),
    ...(capabilities.sampling === 'both' ? { topP: request.topP } : {}),
    ...(schema ? { responseMimeType: 'application/json', responseJsonSchema: schema.document } : {}),
    ...(logprobs > 0 ? { responseLogprobs: true, logprobs } : {}),
    ...extra,
    abortSignal: signal,
  };
}

function buildContents({ turns, images }: VLMRequest): Content[] {
  const imageParts = images.flatMap(({ label, mediaType, base64 }): Part[] => [
    { text: label },
    { inlineData: { mimeType: mediaType, data: base64 } },
  ]);
  return turns.map(({ role, text }, index) => ({
    role: role === 'assistant' ? 'model' : 'user',
    parts: [...(index === 0 ? imageParts : []), { text }],
  }));
}

const REFUSAL_REASONS = ['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'];

function parseReply(response: GenerateContentResponse, model: string): VLMReply {
  const candidate = response.candidates?.[0];
  if (response.promptFeedback?.blockReason || REFUSAL_REASONS.includes(candidate?.finishReason ?? ''))
    throw new VLMError('refusal', 'The model refused to answer');
  // A model that used up its tokens on thinking returns a candidate without content.
  const complete = String(candidate?.finishReason) !== 'MAX_TOKENS';
  if (!candidate || (complete && !candidate.content))
    throw new VLMError('bad_reply', 'The provider answered without any candidate');
  const usage = response.usageMetadata;
  return {
    text: (candidate.content?.parts ?? []).flatMap((part) => (part.thought ? [] : [part.text ?? ''])).join(''),
    model: pickModelName(response.modelVersion, model),
    complete,
    tokens: parseTokens(candidate.logprobsResult),
    usage: buildUsage({
      input: usage?.promptTokenCount,
      cached: usage?.cachedContentTokenCount,
      output: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
    }),
  };
}

function parseTokens(result: LogprobsResult | undefined): TokenLogprobs[] | null {
  const chosen = result?.chosenCandidates;
  if (!Array.isArray(chosen)) return null;
  const read = (list: unknown) =>
    parseTokenList(list, ({ token, logProbability }) => ({ token, logprob: logProbability }));
  return chosen.map((candidate, index) => ({
    token: '',
    logprob: -Infinity,
    ...read([candidate])[0],
    alternatives: read(result?.topCandidates?.[index]?.candidates),
  }));
}
