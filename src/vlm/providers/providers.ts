// Resolves the configured providers: address and API key of each, from the file and the environment.
import { ConfigError } from '../../errors.ts';
import type { ModelBackends, PROVIDER_KINDS } from '../config-file.ts';
import { createRedactor, Secret } from '../transport/secret.ts';

export interface Provider {
  kind: (typeof PROVIDER_KINDS)[number];
  baseUrl: string;
  key: Secret | null;
  /** The setting that is missing to use it, or null. */
  missingSetting: string | null;
}

export function resolveProviders(
  { providers }: ModelBackends,
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, Provider> {
  return Object.fromEntries(
    Object.entries(providers).map(([name, row]) => {
      const read = (variable: string | null): string =>
        variable === null ? '' : (environment[variable]?.trim() ?? '');
      const baseUrl = parseAddress(
        row.base_url_env ?? `/providers/${name}/base_url`,
        read(row.base_url_env) || row.base_url,
      );
      const key = read(row.api_key_env);
      const missingSetting =
        baseUrl === ''
          ? (row.base_url_env ?? 'base_url')
          : row.api_key_env !== null && key === ''
            ? row.api_key_env
            : null;
      return [name, { kind: row.kind, baseUrl, key: key === '' ? null : new Secret(key), missingSetting }];
    }),
  );
}

function parseAddress(name: string, text: string | null): string {
  if (text === null || text === '') return '';
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, '');
  // Redacted: a key set in the wrong variable must not appear in the log.
  throw new ConfigError(`Expected an http address for ${name} but received "${createRedactor([])(text)}"`);
}
