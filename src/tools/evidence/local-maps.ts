// Local maps: as images of the whole image, or reduced to 3 × 3 grids of a region.
import type { ToolEvent } from '../../../schemas/sidecar.ts';
import type { ToolRegistry } from '../registry.ts';
import type { ToolCatalogue } from './catalogue.ts';
import { WHOLE_IMAGE, type ScopedRegion } from './region.ts';
import type { ResultFetcher, ResultRequest, Runnable } from './result-fetcher.ts';

export interface MapOutcome {
  name: string;
  map: ToolEvent['map'];
  error: string | null;
}

interface MapDependencies {
  catalogue: ToolCatalogue;
  fetcher: ResultFetcher;
}

/** Maps of tools or measurements, in the order of the names. */
export async function fetchMaps(
  names: readonly string[],
  registry: ToolRegistry,
  { catalogue, fetcher }: MapDependencies,
  signal: AbortSignal,
): Promise<MapOutcome[]> {
  const unavailableReason = await catalogue.unavailableReasons();
  const { tools: offers } = await catalogue.list();
  const sources = names.map((name): Runnable | { error: string } => {
    const row = registry.find(name);
    if (row) {
      const error = unavailableReason(row);
      return error === null ? row : { error };
    }
    const offer = offers.find((tool) => tool.name === name && tool.available);
    return offer ? { name, type: 'NR', version: offer.version } : { error: `The sidecar has no map of ${name}` };
  });
  const feasible = sources.filter((source) => 'name' in source);
  const results = await fetcher.fetch(
    feasible.map((tool) => fetcher.requestTool(WHOLE_IMAGE, tool, 'map')),
    signal,
  );
  return names.map((name, index) => {
    const source = sources[index];
    if (!source || 'error' in source) return { name, map: null, error: source?.error ?? null };
    const { map, error } = results[feasible.indexOf(source)]?.event as ToolEvent;
    return { name, map, error: map ? null : (error?.message ?? `${name} has no local map`) };
  });
}

export interface GridRequest {
  /** The map's name in the sidecar. */
  map: string;
  region: ScopedRegion;
}

interface GridDependencies extends MapDependencies {
  hasReference: boolean;
  shorterSide: (region: ScopedRegion) => number;
}

/** Nine numbers per map, in the order of the requests; null for a map that cannot be made. */
export async function fetchGrids(
  requests: readonly GridRequest[],
  { catalogue, fetcher, hasReference, shorterSide }: GridDependencies,
  signal: AbortSignal,
): Promise<(number[] | null)[]> {
  const offers = new Map((await catalogue.list()).tools.map((tool) => [tool.name, tool]));
  const wanted = requests.map(({ map, region }): ResultRequest | null => {
    const offer = offers.get(map);
    if (!offer?.available || !offer.has_map) return null;
    if (offer.min_side > shorterSide(region) || (offer.needs_reference && !hasReference)) return null;
    const tool = { name: map, version: offer.version, type: offer.needs_reference ? 'FR' : 'NR' } as const;
    return fetcher.requestTool(region, tool, 'grid');
  });
  const feasible = wanted.filter((request) => request !== null);
  const results = await fetcher.fetch(feasible, signal);
  return wanted.map((request) => {
    const event = request && (results[feasible.indexOf(request)]?.event as ToolEvent | undefined);
    return event?.grid ?? null;
  });
}
