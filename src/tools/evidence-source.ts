// What one assessment asks of the sidecar: measurements and tool values of its pictures, from the cache where they are known.
import type { MeasureEvent, MeasurementsEvent, SidecarTools, ToolEvent } from '../../schemas/sidecar.ts';
import type { ToolRow } from '../../schemas/tool.ts';
import { GLOBAL } from '../../schemas/vocabulary.ts';
import { IqaError } from '../errors.ts';
import type { PreparedImage } from '../images/decoding.ts';
import { cacheKey, type ResultCache } from './cache.ts';
import { calibrate } from './calibration.ts';
import { describeTools, type ToolRegistry } from './registry.ts';
import type { SidecarClient } from './sidecar-client.ts';

/** A part of the picture under the name it has in the evidence; no box means the whole. */
export interface ScopedRegion {
  name: string;
  box: readonly number[] | null;
}

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

export interface EvidenceSource {
  /** Rows that can be run now. */
  availableTools: () => Promise<ToolRow[]>;
  measure: (regions: readonly ScopedRegion[], signal: AbortSignal) => Promise<Map<string, MeasuredRegion>>;
  /** Outcomes in the order asked; a tool that fails has an error and no value. */
  run: (runs: readonly { tool: ToolRow; region: ScopedRegion }[], signal: AbortSignal) => Promise<ToolOutcome[]>;
  statistics: () => { hits: number; misses: number; sidecarMs: number; sidecarVersion: string | null };
}

export interface EvidenceSourceOptions {
  client: SidecarClient;
  registry: ToolRegistry;
  cache: ResultCache;
  toolTimeoutMs: number;
  requestId: string;
  image: PreparedImage;
  reference: PreparedImage | null;
}

export function createEvidenceSource(options: EvidenceSourceOptions): EvidenceSource {
  const { client, registry, cache, image, reference } = options;
  const totals = { hits: 0, misses: 0, sidecarMs: 0, sidecarVersion: null as string | null };

  const offered = async (): Promise<SidecarTools> => {
    const tools = await client.tools();
    totals.sidecarVersion = tools.engine;
    return tools;
  };
  const key = (region: ScopedRegion, what: string, version: string, usesReference: boolean) => cacheKey({
    image: image.sha256, reference: usesReference && reference ? reference.sha256 : null, jpegQuality: image.jpegQuality, box: region.box, what, version,
  });
  const recall = <T extends object>(cacheKeyOf: string): T | undefined => {
    const found = cache.get<T>(cacheKeyOf);
    if (found) totals.hits += 1;
    else totals.misses += 1;
    return found;
  };

  async function ask(regions: readonly ScopedRegion[], measurements: string[], tools: { name: string; region: string }[], signal: AbortSignal): Promise<MeasureEvent[]> {
    const events: MeasureEvent[] = [];
    const boxes = regions.filter((region) => region.box !== null).map((region) => [region.name, [...region.box ?? []]]);
    const call = {
      header: {
        request_id: options.requestId, regions: Object.fromEntries(boxes) as Record<string, number[]>, measurements,
        tools: tools.map((tool) => ({ ...tool, map: false })), jpeg_quality: image.jpegQuality, tool_timeout_ms: options.toolTimeoutMs,
      },
      image, reference,
    };
    for await (const event of client.measure(call, signal)) {
      events.push(event);
      if (event.event === 'end') totals.sidecarMs += event.time_ms;
    }
    return events;
  }

  return {
    async availableTools() {
      const available = new Set(describeTools(registry, await offered()).filter((tool) => tool.available).map((tool) => tool.name));
      return registry.rows.filter((row) => available.has(row.name));
    },

    async measure(regions, signal) {
      const { measurements: { version } } = await offered();
      const known = new Map<string, MeasuredRegion>();
      const missing = regions.filter((region) => {
        const found = recall<MeasuredRegion>(key(region, 'measurements', version, true));
        if (found) known.set(region.name, found);
        return !found;
      });
      if (missing.length === 0) return known;
      const events = await ask(missing, missing.map((region) => region.name), [], signal);
      for (const region of missing) {
        const event = events.find((candidate): candidate is MeasurementsEvent => candidate.event === 'measurements' && candidate.region === region.name);
        const measured = measuredOf(event, region);
        cache.set(key(region, 'measurements', version, true), measured);
        known.set(region.name, measured);
      }
      return known;
    },

    async run(runs, signal) {
      await offered();
      const outcomes = runs.map(({ tool, region }) => {
        if (tool.type === 'FR' && !reference) return failed(tool, region, `Expected a reference image for ${tool.name} but received none`);
        const known = recall<{ value: number }>(key(region, tool.name, tool.version, tool.type === 'FR'));
        return known ? succeeded(tool, region, known.value, 0, true) : null;
      });
      const missing = runs.filter((_, index) => outcomes[index] === null);
      if (missing.length === 0) return outcomes.filter((outcome) => outcome !== null);
      const regions = [...new Map(missing.map(({ region }) => [region.name, region])).values()];
      const events = await ask(regions, [], missing.map(({ tool, region }) => ({ name: tool.name, region: region.name })), signal);
      return runs.map(({ tool, region }, index) => {
        const outcome = outcomes[index] ?? outcomeOf(events, tool, region);
        if (outcome.value !== null && !outcome.cached) cache.set(key(region, tool.name, tool.version, tool.type === 'FR'), { value: outcome.value });
        return outcome;
      });
    },

    statistics: () => ({ ...totals }),
  };
}

export const WHOLE_PICTURE: ScopedRegion = { name: GLOBAL, box: null };

function measuredOf(event: MeasurementsEvent | undefined, region: ScopedRegion): MeasuredRegion {
  if (!event || event.error) throw new IqaError('IQA_TOOL_FAILED', `No measurements of ${region.name}: ${event?.error?.message ?? 'no answer'}`);
  return { values: event.values, reference: event.reference_values };
}

function outcomeOf(events: MeasureEvent[], tool: ToolRow, region: ScopedRegion): ToolOutcome {
  const event = events.find((candidate): candidate is ToolEvent => candidate.event === 'tool' && candidate.tool === tool.name && candidate.region === region.name);
  if (!event || event.value === null) return failed(tool, region, event?.error?.message ?? 'The sidecar gave no answer', event?.time_ms);
  return succeeded(tool, region, event.value, event.time_ms / 1000, false);
}

function succeeded(tool: ToolRow, region: ScopedRegion, value: number, seconds: number, cached: boolean): ToolOutcome {
  return { tool, region: region.name, value, ...calibrate(value, tool.calibration), error: null, seconds, cached };
}

function failed(tool: ToolRow, region: ScopedRegion, error: string, milliseconds = 0): ToolOutcome {
  return { tool, region: region.name, value: null, score: null, clipped: false, error, seconds: milliseconds / 1000, cached: false };
}
