// The interface to vision-language models: text and images in, text out. Each provider implements it in one file.

/** Capabilities of a back end, declared in configs/model_backends.yaml. */
export interface Capabilities {
  /** Enforces a JSON schema; otherwise the schema is part of the prompt. */
  structuredOutput: boolean;
  /** Alternatives reported per token, 0 for none. */
  logprobs: number;
  maxImages: number;
  /** Returns reliable boxes of objects. */
  grounding: boolean;
  /** Sampling parameters that it accepts. */
  sampling: 'both' | 'temperature' | 'none';
}

export interface ModelImage {
  /** Text that precedes the image in the prompt. */
  label: string;
  mediaType: 'image/jpeg' | 'image/png' | 'image/webp';
  base64: string;
  width: number;
  height: number;
  /** Identifies its source and encoding, for the cache. */
  key: string;
}

export interface Turn {
  role: 'user' | 'assistant';
  text: string;
}

export interface VLMRequest {
  system: string;
  /** The first turn is the user's; the images are part of it. */
  turns: readonly Turn[];
  images: readonly ModelImage[];
  /** Draft 2020-12, reduced to keywords that all providers accept; null if it is part of the prompt. */
  schema: { name: string; document: Record<string, unknown> } | null;
  temperature: number;
  topP: number;
  maxTokens: number;
  /** Alternatives requested per token, 0 for none. */
  logprobs: number;
}

export interface TokenCandidate {
  token: string;
  logprob: number;
}

export interface TokenLogprobs extends TokenCandidate {
  /** The likeliest tokens at this position, including the generated one. */
  alternatives: TokenCandidate[];
}

export interface TokenUsage {
  inputTokens: number;
  /** Input tokens read from the provider's prompt cache. */
  cachedInputTokens: number;
  /** Input tokens written to the provider's prompt cache, where these have their own price. */
  writtenInputTokens: number;
  outputTokens: number;
}

export interface VLMReply {
  text: string;
  /** Model name as reported by the provider. */
  model: string;
  /** False if the reply was cut off at the token limit. */
  complete: boolean;
  tokens: TokenLogprobs[] | null;
  /** Null if the provider does not report it. */
  usage: TokenUsage | null;
}

export interface VLMClient {
  /** Rejects with a VLMError or the signal's reason. Never retries: the session does. */
  generate: (request: VLMRequest, signal: AbortSignal) => Promise<VLMReply>;
  /** Loads the provider's SDK before the first call. */
  warmUp: () => Promise<void>;
}

export interface ClientSettings {
  model: string;
  baseUrl: string;
  /** Called only when the key is used. */
  getApiKey: () => string;
  capabilities: Capabilities;
  /** Name of the token limit in requests to this server. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Extra request fields of this model, such as its thinking budget. */
  extra: Readonly<Record<string, unknown>>;
  fetch: typeof fetch;
  /** Removes API keys from a text. */
  redact: (text: string) => string;
}
