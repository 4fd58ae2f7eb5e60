// ${NAME} and ${NAME:-default} in configuration files, filled from the environment after the YAML was read: a value cannot change its structure.
import { parse as parseYaml } from 'yaml';
import { ConfigError } from '../errors.ts';

const REFERENCE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** An empty variable counts as unset, as everywhere in the settings. */
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
  const text = value.replaceAll(REFERENCE, (_, name: string, fallback: string | undefined) => {
    const found = environment[name]?.trim() || fallback;
    if (found === undefined)
      throw new ConfigError(`Expected the environment variable ${name} for ${path} but it is not set`);
    return found;
  });
  return scalarOf(text);
}

/** "0.5", "true" and "null" become what they would be if they stood in the file. */
function scalarOf(text: string): unknown {
  try {
    const parsed = parseYaml(text) as unknown;
    return typeof parsed === 'number' || typeof parsed === 'boolean' || parsed === null ? parsed : text;
  } catch {
    return text;
  }
}
