// Replaces ${NAME} and ${NAME:-default} in parsed configuration files; a value cannot change their structure.
import { parse as parseYaml } from 'yaml';
import { ConfigError } from '../errors.ts';

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** An empty variable counts as unset, as in all settings. */
export function interpolate(
  value: unknown,
  environment: Readonly<Record<string, string | undefined>>,
  path = '',
): unknown {
  if (Array.isArray(value)) return value.map((item, index) => interpolate(item, environment, `${path}/${index}`));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, interpolate(item, environment, `${path}/${key}`)]),
    );
  }
  if (typeof value !== 'string' || !value.includes('${')) return value;
  const text = value.replaceAll(VARIABLE, (_, name: string, fallback: string | undefined) => {
    const found = environment[name]?.trim() || fallback;
    if (found === undefined)
      throw new ConfigError(`Expected the environment variable ${name} for ${path} but it is not set`);
    return found;
  });
  return parseScalar(text);
}

/** "0.5", "true" and "null" become what YAML makes of them. */
function parseScalar(text: string): unknown {
  try {
    const parsed = parseYaml(text) as unknown;
    return typeof parsed === 'number' || typeof parsed === 'boolean' || parsed === null ? parsed : text;
  } catch {
    return text;
  }
}
