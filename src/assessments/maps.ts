// The local quality maps of a request: fetched in parallel with the run. A missing map adds a note and never fails the run.
import type { Diagnostics } from '../../schemas/responses/assessment.ts';
import { GLOBAL } from '../../schemas/vocabulary.ts';
import { IqaError, publicMessage } from '../errors.ts';
import type { RunContext } from '../pipeline/run-context.ts';
import type { ToolRegistry } from '../tools/registry.ts';

export interface CollectedMaps {
  maps: Diagnostics['maps'];
  /** One sentence for each missing map. */
  notes: string[];
}

/** Common words for the measurements that have a map; they have no score, so the registry does not list them. */
const MAPPED_MEASUREMENTS: Readonly<Record<string, string>> = {
  blur: 'edge_width_px',
  noise: 'noise_sigma',
  blockiness: 'blockiness',
};

/** The tools and measurements behind the requested names or aliases, without duplicates; throws for an unknown name. */
export function findMapSources(names: readonly string[], registry: ToolRegistry): string[] {
  return [...new Set(names.map((name) => findMapSource(name, registry)))];
}

function findMapSource(name: string, registry: ToolRegistry): string {
  const word = name.trim().toLowerCase();
  const measurement = Object.entries(MAPPED_MEASUREMENTS).find((entry) => entry.includes(word))?.[1];
  const source = registry.find(name)?.name ?? measurement;
  if (source !== undefined) return source;
  const known = [...registry.names, ...Object.keys(MAPPED_MEASUREMENTS)].join(', ');
  throw new IqaError(
    'IQA_INPUT_INVALID',
    `Expected names of tools for maps (${known}) but received "${name.slice(0, 60)}"`,
  );
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
    log.warn({ err: error }, 'Maps unavailable');
    return { maps: [], notes: [`No maps: ${publicMessage(error)}`] };
  }
}
