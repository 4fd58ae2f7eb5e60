// Fetches sidecar results for the images of one assessment: from the cache, from a call in flight, or with a new call.
import type { ToolRow } from '../../../schemas/tool.ts';
import { IqaError } from '../../errors.ts';
import type { PreparedImage } from '../../images/prepare-image.ts';
import type { MeasureCall, SidecarClient } from '../sidecar/client.ts';
import { resultCacheKey, type ResultCache } from './cache.ts';
import { createInFlightCalls, type ResultEvent } from './in-flight.ts';
import type { ScopedRegion } from './region.ts';

/** A tool of the registry, or one that only the sidecar lists (the map of a measurement). */
export type Runnable = Pick<ToolRow, 'name' | 'type' | 'version'>;

export interface ResultRequest {
  region: ScopedRegion;
  /** Null: the measurements of the region. */
  tool: Runnable | null;
  output: 'value' | 'map' | 'grid';
  key: string;
}

interface FetchedResult {
  event: ResultEvent;
  cached: boolean;
}

export interface ResultFetcher {
  requestMeasurements: (region: ScopedRegion, version: string) => ResultRequest;
  requestTool: (region: ScopedRegion, tool: Runnable, output?: ResultRequest['output']) => ResultRequest;
  /** Results in the order of the requests; `onResult` is called with each as it arrives. */
  fetch: (
    requests: readonly ResultRequest[],
    signal: AbortSignal,
    onResult?: (index: number, result: FetchedResult) => void,
  ) => Promise<FetchedResult[]>;
  /** Starts one call for all requests without waiting for it, unless one of them is cached. */
  start: (requests: readonly ResultRequest[], signal: AbortSignal) => void;
  statistics: () => { hits: number; misses: number; sidecarMs: number };
}

export interface FetcherOptions {
  client: SidecarClient;
  cache: ResultCache;
  /** Read at every call: it shrinks with the remaining time. */
  toolTimeoutMs: () => number;
  requestId: string;
  image: PreparedImage;
  reference: PreparedImage | null;
}

export function createResultFetcher(options: FetcherOptions): ResultFetcher {
  const { client, cache, image, reference } = options;
  const inFlight = createInFlightCalls((key, event) => {
    cache.set(key, event);
  });
  const counts = { hits: 0, misses: 0 };

  const buildKey = (region: ScopedRegion, what: string, version: string, usesReference: boolean): string =>
    resultCacheKey({
      image: image.sha256,
      reference: usesReference ? (reference?.sha256 ?? null) : null,
      jpegQuality: image.jpegQuality,
      box: region.box,
      what,
      version,
    });

  function call(requests: readonly ResultRequest[], signal: AbortSignal): void {
    inFlight.track(
      client.measure({ header: buildHeader(requests, options), image, reference }, signal),
      requests.map(({ key }) => key),
      (event) => requests.find((request) => isResultOf(request, event))?.key,
    );
  }

  return {
    requestMeasurements: (region, version) => ({
      region,
      tool: null,
      output: 'value',
      key: buildKey(region, 'measurements', version, true),
    }),
    requestTool: (region, tool, output = 'value') => ({
      region,
      tool,
      output,
      key: buildKey(
        region,
        output === 'value' ? tool.name : `${tool.name} ${output}`,
        tool.version,
        tool.type === 'FR',
      ),
    }),
    async fetch(requests, signal, onResult) {
      const known = requests.map(({ key }) => (inFlight.get(key) ? undefined : cache.get(key)));
      const missing = requests.filter(({ key }, index) => !known[index] && !inFlight.get(key));
      if (missing.length > 0) call(missing, signal);
      const hits = known.filter((event) => event !== undefined).length;
      counts.hits += hits;
      counts.misses += requests.length - hits;
      return Promise.all(
        requests.map(async ({ key }, index) => {
          const event = known[index] ?? (await inFlight.get(key));
          if (!event) throw new IqaError('IQA_TOOL_FAILED', 'The sidecar gave no answer');
          const result = { event, cached: known[index] !== undefined };
          onResult?.(index, result);
          return result;
        }),
      );
    },
    start(requests, signal) {
      if (requests.every(({ key }) => !cache.has(key))) call(requests, signal);
    },
    statistics: () => ({ ...counts, sidecarMs: inFlight.sidecarMs() }),
  };
}

function buildHeader(
  requests: readonly ResultRequest[],
  { requestId, image, toolTimeoutMs }: FetcherOptions,
): MeasureCall['header'] {
  const boxes = requests.flatMap(({ region }) => (region.box === null ? [] : [[region.name, [...region.box]]]));
  return {
    request_id: requestId,
    regions: Object.fromEntries(boxes) as Record<string, number[]>,
    measurements: requests.filter(({ tool }) => tool === null).map(({ region }) => region.name),
    tools: requests.flatMap(({ tool, region, output }) =>
      tool
        ? [
            {
              name: tool.name,
              region: region.name,
              map: output === 'map',
              // Sent only if wanted: sidecars without this field refuse it.
              ...(output === 'grid' ? { grid: true } : {}),
            },
          ]
        : [],
    ),
    jpeg_quality: image.jpegQuality,
    tool_timeout_ms: toolTimeoutMs(),
  };
}

const isResultOf = ({ tool, region }: ResultRequest, event: ResultEvent): boolean =>
  region.name === event.region && (event.event === 'tool' ? tool?.name === event.tool : tool === null);
