// The narrow door to every vision-language model: text and pictures in, text out. One file a provider stands behind it.

/** What a back end can do, declared in configs/model_backends.yaml. */
export interface Capabilities {
  /** Takes a JSON schema and keeps to it; otherwise the schema is part of the prompt. */
  structuredOutput: boolean;
  /** Alternatives a token that it reports, 0 for none. */
  logprobs: number;
  maxImages: number;
  /** Returns boxes of objects that can be trusted. */
  grounding: boolean;
  /** Which sampling parameters it accepts. */
  sampling: 'both' | 'temperature' | 'none';
}

export interface ModelImage {
  /** What it shows, told to the model before the picture. */
  label: string;
  mediaType: 'image/jpeg' | 'image/png' | 'image/webp';
  base64: string;
  width: number;
  height: number;
  /** Of what it was made from, for the cache. */
  key: string;
}

export interface Turn {
  role: 'user' | 'assistant';
  text: string;
}

export interface VLMRequest {
  system: string;
  /** The first turn is the user's; the pictures go with it. */
  turns: readonly Turn[];
  images: readonly ModelImage[];
  /** Draft 2020-12, reduced to what all providers take; null where the prompt carries it. */
  schema: { name: string; document: Record<string, unknown> } | null;
  temperature: number;
  topP: number;
  maxTokens: number;
  /** Alternatives wanted for each token, 0 for none. */
  logprobs: number;
}

export interface TokenCandidate {
  token: string;
  logprob: number;
}

export interface TokenLogprobs extends TokenCandidate {
  /** The likeliest tokens at this place, the spoken one among them. */
  alternatives: TokenCandidate[];
}

export interface TokenUsage {
  inputTokens: number;
  /** Of the input, what the provider had in its prompt cache. */
  cachedInputTokens: number;
  /** Of the input, what the provider wrote to its prompt cache, where that has a price of its own. */
  writtenInputTokens: number;
  outputTokens: number;
}

export interface VLMReply {
  text: string;
  /** The model as the provider names it. */
  model: string;
  /** Whether it stopped because it had said all. */
  complete: boolean;
  tokens: TokenLogprobs[] | null;
  /** Null where the provider does not say. */
  usage: TokenUsage | null;
}

export interface VLMClient {
  /** Rejects with a VLMError, or with the signal's reason. Never retries: one place does. */
  generate: (request: VLMRequest, signal: AbortSignal) => Promise<VLMReply>;
  /** Loads the provider's SDK ahead of the first call. */
  warmUp: () => Promise<void>;
}

export interface ClientSettings {
  model: string;
  baseUrl: string;
  /** Read at the moment of use only. */
  getApiKey: () => string;
  capabilities: Capabilities;
  /** Which name the token limit has on this server. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Fields of the request that only this model has, such as how much it may think. */
  extra: Readonly<Record<string, unknown>>;
  fetch: typeof fetch;
  /** Takes the keys out of a text. */
  redact: (text: string) => string;
}
