// What one assessment asks of the sidecar: measurements and tool values of its pictures, from the cache where they are known.
import type { MeasurementsEvent, SidecarTools, ToolEvent } from '../../../schemas/sidecar.ts';
import type { ToolRow } from '../../../schemas/tool.ts';
import { GLOBAL } from '../../../schemas/vocabulary.ts';
import { IqaError } from '../../errors.ts';
import type { PreparedImage } from '../../images/prepare-image.ts';
import { cacheKey, type ResultCache } from './cache.ts';
import { calibrate } from '../calibration.ts';
import { guessTools } from './predict-tools.ts';
import { reduceMap } from './map-grid.ts';
import { describeTools, runnableTools, type ToolRegistry } from '../registry.ts';
import { createRunningCalls, type ResultEvent } from './in-flight.ts';
import type { SidecarClient } from '../sidecar/client.ts';

/** A part of the picture under the name it has in the evidence; no box means the whole. */
export interface ScopedRegion {
  name: string;
  box: readonly number[] | null;
}
export const WHOLE_PICTURE: ScopedRegion = { name: GLOBAL, box: null };

export interface MeasuredRegion {
  values: Record<string, number | null>;
  /** The same measurements of the reference, when there is one. */
  reference: Record<string, number | null> | null;
}

export interface ToolOutcome {
  tool: ToolRow;
  region: string;
  value: number | null;
  score: number | null;
  clipped: boolean;
  error: string | null;
  seconds: number;
  cached: boolean;
}

export interface MapOutcome {
  name: string;
  map: ToolEvent['map'];
  error: string | null;
}

export interface EvidenceSource {
  /**
   * Begins with what nearly every question needs, while the planner still thinks; and with what may be chosen, as far as it is done within
   * `spareMs`. What turns out not to be needed is dropped.
   */
  prefetch: (signal: AbortSignal, spareMs: number) => Promise<void>;
  /** Nothing of it is needed any more: the sidecar stops. */
  dropPrefetch: () => void;
  /** Of the region, in pixels: some tools refuse what is too small for them. */
  shorterSide: (region: ScopedRegion) => number;
  /** Rows that can be run now. */
  availableTools: () => Promise<readonly ToolRow[]>;
  measure: (regions: readonly ScopedRegion[], signal: AbortSignal) => Promise<Map<string, MeasuredRegion>>;
  /** Outcomes in the order asked; a tool that fails has an error and no value. */
  run: (runs: readonly { tool: ToolRow; region: ScopedRegion }[], signal: AbortSignal) => Promise<ToolOutcome[]>;
  /** The local maps of these tools, or measurements, over the whole picture; one that cannot be made has an error instead. */
  maps: (names: readonly string[], signal: AbortSignal) => Promise<MapOutcome[]>;
  /** Nine numbers from each map, by the name the sidecar has for it; null for one that cannot be made. */
  locate: (
    sought: readonly { map: string; region: ScopedRegion }[],
    signal: AbortSignal,
  ) => Promise<(number[] | null)[]>;
  statistics: () => { hits: number; misses: number; sidecarMs: number; sidecarVersion: string | null };
}

export interface EvidenceSourceOptions {
  client: SidecarClient;
  registry: ToolRegistry;
  cache: ResultCache;
  /** Asked at every call: it shrinks with the time that is left. */
  toolTimeoutMs: () => number;
  requestId: string;
  image: PreparedImage;
  reference: PreparedImage | null;
  /** Told of every tool as soon as its value is there. */
  onTool: (outcome: ToolOutcome) => void;
}

/** A tool of the registry, or one that only the sidecar lists: a measurement's map. */
type Runnable = Pick<ToolRow, 'name' | 'type' | 'version'>;

/** A region's measurements, or one tool on it. */
interface Wanted {
  region: ScopedRegion;
  tool: Runnable | null;
  map: boolean;
  key: string;
}

export function createEvidenceSource(options: EvidenceSourceOptions): EvidenceSource {
  const { client, registry, cache, image, reference } = options;
  const totals = { hits: 0, misses: 0, sidecarVersion: null as string | null };
  /** Maps that are reduced on arrival: the nine numbers are remembered, not the picture. */
  const fleeting = new Set<string>();
  const running = createRunningCalls((key, event) => {
    if (!fleeting.has(key)) cache.set(key, event);
  });
  const prefetching = new AbortController();

  const offered = async (): Promise<SidecarTools> => {
    const tools = await client.tools();
    totals.sidecarVersion = tools.engine;
    return tools;
  };
  const available = async (): Promise<readonly ToolRow[]> => runnableTools(registry, await offered());
  const shorterSide = ({ box }: ScopedRegion): number => {
    const [, , width = image.info.width, height = image.info.height] = box ?? [];
    return Math.min(width, height);
  };
  const want = (region: ScopedRegion, tool: Runnable | null, version: string, map = false): Wanted => ({
    region,
    tool,
    map,
    key: cacheKey({
      image: image.sha256,
      reference: tool?.type === 'NR' ? null : (reference?.sha256 ?? null),
      jpegQuality: image.jpegQuality,
      box: region.box,
      what: `${tool?.name ?? 'measurements'}${map ? ' map' : ''}`,
      version,
    }),
  });

  /** One call for all of these. */
  function ask(wanted: readonly Wanted[], signal: AbortSignal): void {
    const boxes = wanted.flatMap(({ region }) => (region.box === null ? [] : [[region.name, [...region.box]]]));
    const header = {
      request_id: options.requestId,
      regions: Object.fromEntries(boxes) as Record<string, number[]>,
      measurements: wanted.filter(({ tool }) => tool === null).map(({ region }) => region.name),
      tools: wanted.flatMap(({ tool, region, map }) => (tool ? [{ name: tool.name, region: region.name, map }] : [])),
      jpeg_quality: image.jpegQuality,
      tool_timeout_ms: options.toolTimeoutMs(),
    };
    const keyOf = (event: ResultEvent): string =>
      wanted.find(
        ({ tool, region }) =>
          region.name === event.region && (event.event === 'tool' ? tool?.name === event.tool : tool === null),
      )?.key ?? '';
    running.follow(
      client.measure({ header, image, reference }, signal),
      wanted.map(({ key }) => key),
      keyOf,
    );
  }

  /** From the cache, from a call that is under way, or from a new one; `onResult` is told of each as it comes. */
  async function obtain(
    wanted: readonly Wanted[],
    signal: AbortSignal,
    onResult?: (index: number, result: Result) => void,
  ): Promise<Result[]> {
    const known = wanted.map(({ key }) => (running.waitFor(key) ? undefined : cache.get<ResultEvent>(key)));
    const missing = wanted.filter(({ key }, index) => !known[index] && !running.waitFor(key));
    if (missing.length > 0) ask(missing, signal);
    const hits = known.filter((event) => event !== undefined).length;
    totals.hits += hits;
    totals.misses += wanted.length - hits;
    return Promise.all(
      wanted.map(async ({ key }, index) => {
        const event = known[index] ?? (await running.waitFor(key));
        if (!event) throw new IqaError('IQA_TOOL_FAILED', 'The sidecar gave no answer');
        const result = { event, cached: known[index] !== undefined };
        onResult?.(index, result);
        return result;
      }),
    );
  }

  /** Why a tool cannot be run here and now, or null. */
  async function findObstacles(): Promise<(tool: ToolRow) => string | null> {
    const infos = describeTools(registry, await offered());
    return (tool) => {
      if (tool.type === 'FR' && !reference) return `Expected a reference image for ${tool.name} but received none`;
      const info = infos.find(({ name }) => name === tool.name);
      return info?.available ? null : `${tool.name} cannot be run: ${info?.reason ?? 'it is not in the registry'}`;
    };
  }

  return {
    async prefetch(signal, spareMs) {
      const [
        {
          measurements: { version },
        },
        tools,
      ] = await Promise.all([offered(), available()]);
      const guessed = guessTools({ tools, type: reference ? 'FR' : 'NR', size: image.info, spareMs });
      const likely = guessed.map((tool) => want(WHOLE_PICTURE, tool, tool.version));
      const wanted = [want(WHOLE_PICTURE, null, version), ...likely];
      if (!prefetching.signal.aborted && wanted.every(({ key }) => !cache.has(key)))
        ask(wanted, AbortSignal.any([signal, prefetching.signal]));
    },
    dropPrefetch: () => {
      prefetching.abort(new DOMException('No longer needed', 'AbortError'));
    },
    shorterSide,
    availableTools: available,
    async measure(regions, signal) {
      const {
        measurements: { version },
      } = await offered();
      const results = await obtain(
        regions.map((region) => want(region, null, version)),
        signal,
      );
      return new Map(
        regions.map((region, index) => [region.name, measuredOf(results[index]?.event as MeasurementsEvent, region)]),
      );
    },
    async run(runs, signal) {
      const obstacle = await findObstacles();
      const outcomes = new Map<Run, ToolOutcome>();
      const settle = (run: Run, outcome: ToolOutcome) => {
        outcomes.set(run, outcome);
        options.onTool(outcome);
      };
      const feasible = runs.filter((run) => {
        const reason = obstacle(run.tool);
        if (reason !== null) settle(run, failed(run, reason));
        return reason === null;
      });
      await obtain(
        feasible.map(({ tool, region }) => want(region, tool, tool.version)),
        signal,
        (index, { event, cached }) => {
          const run = feasible[index];
          if (run) settle(run, outcomeOf(run, event as ToolEvent, cached));
        },
      );
      return runs.map((run) => outcomes.get(run) ?? failed(run, 'The sidecar gave no answer'));
    },
    async maps(names, signal) {
      const obstacle = await findObstacles();
      const { tools: offers } = await offered();
      const sources = names.map((name): Runnable | string => {
        const row = registry.find(name);
        if (row) return obstacle(row) ?? row;
        const offer = offers.find((tool) => tool.name === name && tool.available);
        return offer ? { name, type: 'NR', version: offer.version } : `The sidecar does not show ${name}`;
      });
      const feasible = sources.filter((source) => typeof source !== 'string');
      const results = await obtain(
        feasible.map((tool) => want(WHOLE_PICTURE, tool, tool.version, true)),
        signal,
      );
      return names.map((name, index) => {
        const source = sources[index];
        if (source === undefined || typeof source === 'string') return { name, map: null, error: source ?? null };
        const { map, error } = (results[feasible.indexOf(source)]?.event ?? { map: null, error: null }) as Pick<
          ToolEvent,
          'map' | 'error'
        >;
        return { name, map, error: map ? null : (error?.message ?? `${name} has no local map`) };
      });
    },
    async locate(sought, signal) {
      const tools = new Map((await offered()).tools.map((tool) => [tool.name, tool]));
      const wanted = sought.map(({ map, region }) => {
        const tool = tools.get(map);
        if (
          !tool?.available ||
          !tool.has_map ||
          tool.min_side > shorterSide(region) ||
          (tool.needs_reference && !reference)
        )
          return null;
        return want(
          region,
          { name: map, version: tool.version, type: tool.needs_reference ? 'FR' : 'NR' },
          tool.version,
          true,
        );
      });
      const known = wanted.map((one) => (one && cache.get<{ grid: number[] }>(placeKey(one))?.grid) ?? null);
      const missing = wanted.filter((one, index) => one !== null && known[index] === null) as Wanted[];
      for (const { key } of missing) fleeting.add(key);
      const results = await obtain(missing, signal);
      return Promise.all(
        wanted.map(async (one, index) => {
          const event = one ? (results[missing.indexOf(one)]?.event as ToolEvent | undefined) : undefined;
          if (!one || !event?.map) return known[index] ?? null;
          const grid = await reduceMap(event.map);
          cache.set(placeKey(one), { grid });
          return grid;
        }),
      );
    },
    statistics: () => ({ ...totals, sidecarMs: running.sidecarMs() }),
  };
}

const placeKey = ({ key }: Wanted): string => `${key}|place`;

function measuredOf(event: MeasurementsEvent, region: ScopedRegion): MeasuredRegion {
  if (event.error) throw new IqaError('IQA_TOOL_FAILED', `No measurements of ${region.name}: ${event.error.message}`);
  return { values: event.values, reference: event.reference_values };
}

type Run = { tool: ToolRow; region: ScopedRegion };
interface Result {
  event: ResultEvent;
  cached: boolean;
}

function outcomeOf({ tool, region }: Run, { value, time_ms, error, version }: ToolEvent, cached: boolean): ToolOutcome {
  if (value === null) return failed({ tool, region }, error?.message ?? 'The tool gave no value', time_ms);
  if (version !== tool.version)
    return failed(
      { tool, region },
      `The sidecar ran version ${version} of ${tool.name} but the registry describes ${tool.version}`,
      time_ms,
    );
  return {
    tool,
    region: region.name,
    value,
    ...calibrate(value, tool.calibration),
    error: null,
    seconds: cached ? 0 : time_ms / 1000,
    cached,
  };
}

function failed({ tool, region }: Run, error: string, milliseconds = 0): ToolOutcome {
  return {
    tool,
    region: region.name,
    value: null,
    score: null,
    clipped: false,
    error,
    seconds: milliseconds / 1000,
    cached: false,
  };
}
