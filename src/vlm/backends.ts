// The configured back ends by name or alias; their clients are created once and shared by all requests.
import type { Config } from '../config/config.ts';
import { createAnthropicClient } from './providers/anthropic.ts';
import { createCircuitBreaker, type CircuitBreaker } from './transport/circuit-breaker.ts';
import type { Capabilities, ClientSettings, VLMClient } from './client.ts';
import { createGoogleClient } from './providers/google.ts';
import { createGuardedFetch } from './transport/guarded-fetch.ts';
import { AUTO, EMBEDDED, type BackendRow } from './config-file.ts';
import { createOpenAiClient } from './providers/openai.ts';
import { createOpenAiCompatibleClient } from './providers/openai-compatible.ts';
import type { Provider } from './providers/providers.ts';
import { createKeyRemover, createRedactor } from './transport/secret.ts';

export interface Backend {
  name: string;
  model: string;
  capabilities: Capabilities;
  prices: BackendRow['usd_per_million_tokens'];
  client: VLMClient;
  breaker: CircuitBreaker;
}

export interface Backends {
  /** Resolves "auto" and aliases to the name of a back end or "embedded". */
  resolveName: (name: string) => string;
  /** A back end, or the setting that is missing to use it; null if the name is unknown. */
  resolve: (name: string) => Backend | { missingSetting: string } | null;
  /** All names with their missing settings, for error messages. */
  supported: string[];
}

/** One entry per wire format. */
const CLIENT_FACTORIES: Record<Provider['kind'], (settings: ClientSettings) => VLMClient> = {
  openai: createOpenAiClient,
  anthropic: createAnthropicClient,
  google: createGoogleClient,
  'openai-compatible': createOpenAiCompatibleClient,
};

export function createBackends({ models, providers }: Pick<Config, 'models' | 'providers'>): Backends {
  const keys = Object.values(providers).flatMap(({ key }) => key ?? []);
  const redact = createRedactor(keys);
  const guarded = createGuardedFetch({ redact, removeKeys: createKeyRemover(keys) });
  const found = new Map<string, (Backend | { missingSetting: string }) & { name: string }>();
  for (const [name, row] of Object.entries(models.backends)) {
    const provider = providers[row.provider];
    if (!provider) continue;
    const entry =
      provider.missingSetting === null
        ? createBackend(name, row, provider, { redact, fetch: guarded }, models.breaker)
        : { name, missingSetting: provider.missingSetting };
    for (const spelling of [name, ...row.aliases]) found.set(spelling.toLowerCase(), entry);
  }
  const resolve = (name: string) => found.get(name.toLowerCase()) ?? null;
  const isUsable = (name: string): boolean => 'client' in (resolve(name) ?? {});
  const automatic = models.auto.find(isUsable) ?? EMBEDDED;
  const describe = (name: string): string => {
    const entry = resolve(name);
    return entry && 'missingSetting' in entry ? `${name} (needs ${entry.missingSetting})` : name;
  };
  const resolveName = (name: string): string => {
    const meant = name.toLowerCase() === AUTO ? automatic : name;
    return resolve(meant)?.name ?? (meant.toLowerCase() === EMBEDDED ? EMBEDDED : meant);
  };
  return { resolveName, resolve, supported: [AUTO, EMBEDDED, ...Object.keys(models.backends).map(describe)] };
}

function createBackend(
  name: string,
  row: BackendRow,
  provider: Provider,
  guard: Pick<ClientSettings, 'redact' | 'fetch'>,
  breaker: Parameters<typeof createCircuitBreaker>[0],
): Backend {
  const capabilities = {
    structuredOutput: row.structured_output,
    logprobs: row.logprobs,
    maxImages: row.max_images,
    grounding: row.grounding,
    sampling: row.sampling,
  };
  const client = CLIENT_FACTORIES[provider.kind]({
    model: row.model,
    baseUrl: provider.baseUrl,
    getApiKey: () => provider.key?.reveal() ?? '',
    capabilities,
    maxTokensField: row.max_tokens_field,
    extra: row.extra,
    ...guard,
  });
  return {
    name,
    model: row.model,
    capabilities,
    prices: row.usd_per_million_tokens,
    client,
    breaker: createCircuitBreaker(breaker),
  };
}
