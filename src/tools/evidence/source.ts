// The evidence source of one assessment: measurements, tool values and local maps of its images.
import type { ToolRow } from '../../../schemas/tool.ts';
import type { ToolRegistry } from '../registry.ts';
import { createCatalogue } from './catalogue.ts';
import { fetchGrids, fetchMaps, type GridRequest, type MapOutcome } from './local-maps.ts';
import { measureRegions, type MeasuredRegion } from './measure.ts';
import { createPrefetch, type Prefetch } from './prefetch.ts';
import type { ScopedRegion } from './region.ts';
import { createResultFetcher, type FetcherOptions } from './result-fetcher.ts';
import { runTools, type ToolOutcome, type ToolRun } from './run-tools.ts';

export type { MeasuredRegion } from './measure.ts';
export type { ToolOutcome } from './run-tools.ts';
export { WHOLE_IMAGE, type ScopedRegion } from './region.ts';

export interface EvidenceSource {
  prefetch: Prefetch;
  /** Of the region, in pixels: tools refuse regions below their minimum. */
  shorterSide: (region: ScopedRegion) => number;
  /** Registry rows that can be run now. */
  availableTools: () => Promise<readonly ToolRow[]>;
  measure: (regions: readonly ScopedRegion[], signal: AbortSignal) => Promise<Map<string, MeasuredRegion>>;
  /** Outcomes in the order of the runs; a tool that fails has an error and no value. */
  run: (runs: readonly ToolRun[], signal: AbortSignal) => Promise<ToolOutcome[]>;
  /** Local maps of tools or measurements over the whole image, as files; one that cannot be made has an error. */
  maps: (names: readonly string[], signal: AbortSignal) => Promise<MapOutcome[]>;
  /** 3 × 3 grids of local maps; null for one that cannot be made. */
  locate: (requests: readonly GridRequest[], signal: AbortSignal) => Promise<(number[] | null)[]>;
  statistics: () => { hits: number; misses: number; sidecarMs: number; sidecarVersion: string | null };
}

interface EvidenceSourceOptions extends FetcherOptions {
  registry: ToolRegistry;
  /** Called with every tool outcome as soon as it is known. */
  onTool: (outcome: ToolOutcome) => void;
}

export function createEvidenceSource(options: EvidenceSourceOptions): EvidenceSource {
  const { client, registry, image, onTool } = options;
  const hasReference = options.reference !== null;
  const catalogue = createCatalogue(client, registry, hasReference);
  const fetcher = createResultFetcher(options);
  const shorterSide = ({ box }: ScopedRegion): number => {
    const [, , width = image.info.width, height = image.info.height] = box ?? [];
    return Math.min(width, height);
  };
  return {
    prefetch: createPrefetch({ catalogue, fetcher, size: image.info, hasReference }),
    shorterSide,
    availableTools: catalogue.runnable,
    measure: (regions, signal) => measureRegions(regions, { catalogue, fetcher }, signal),
    run: (runs, signal) => runTools(runs, { catalogue, fetcher, onTool }, signal),
    maps: (names, signal) => fetchMaps(names, registry, { catalogue, fetcher }, signal),
    locate: (requests, signal) => fetchGrids(requests, { catalogue, fetcher, hasReference, shorterSide }, signal),
    statistics: () => ({ ...fetcher.statistics(), sidecarVersion: catalogue.sidecarVersion() }),
  };
}
