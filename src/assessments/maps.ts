// The local maps that a request asked for: fetched beside the run, and what could not be made said so, never a reason to fail.
import type { Diagnostics } from '../../schemas/responses/assessment.ts';
import { GLOBAL } from '../../schemas/vocabulary.ts';
import { IqaError, publicMessage } from '../errors.ts';
import type { RunContext } from '../pipeline/run-context.ts';
import type { ToolRegistry } from '../tools/registry.ts';

export interface CollectedMaps {
  maps: Diagnostics['maps'];
  /** Why a map is missing, a sentence each. */
  notes: string[];
}

/** Measurements that can be shown tile by tile, though they have no score and so no row in the registry; by the words people have for them, too. */
const MEASUREMENTS: Readonly<Record<string, string>> = {
  blur: 'edge_width_px',
  noise: 'noise_sigma',
  blockiness: 'blockiness',
};

/** What maps are wanted of, by name or alias, each once; a name that nobody has is the caller's to mend, before the run begins. */
export function findMapSources(names: readonly string[], registry: ToolRegistry): string[] {
  return [
    ...new Set(
      names.map((name) => {
        const word = name.trim().toLowerCase();
        const found =
          registry.find(name)?.name ??
          Object.entries(MEASUREMENTS).find((measurement) => measurement.includes(word))?.[1];
        if (found !== undefined) return found;
        const known = [...registry.names, ...Object.keys(MEASUREMENTS)].join(', ');
        throw new IqaError(
          'IQA_INPUT_INVALID',
          `Expected names of tools for maps (${known}) but received "${name.slice(0, 60)}"`,
        );
      }),
    ),
  ];
}

export async function collectMaps(
  names: readonly string[],
  { evidence, log, signal }: RunContext,
): Promise<CollectedMaps> {
  if (names.length === 0) return { maps: [], notes: [] };
  try {
    const outcomes = await evidence.maps(names, signal);
    return {
      maps: outcomes.flatMap(({ name, map }) => (map ? [{ tool_name: name, object_name: GLOBAL, ...map }] : [])),
      notes: outcomes.flatMap(({ name, error }) => (error === null ? [] : [`No map of ${name}: ${error}`])),
    };
  } catch (error) {
    if (signal.aborted) throw error;
    log.warn({ err: error }, 'No maps');
    return { maps: [], notes: [`No maps: ${publicMessage(error)}`] };
  }
}
