// Starts measuring before the plan is known: the measurements and the tools that are likely to be chosen.
import { setImmediate } from 'node:timers/promises';
import type { PreparedImage } from '../../images/prepare-image.ts';
import type { ToolCatalogue } from './catalogue.ts';
import { predictTools } from './predict-tools.ts';
import { WHOLE_IMAGE } from './region.ts';
import type { ResultFetcher } from './result-fetcher.ts';

export interface Prefetch {
  /** Resolves when the call has been sent. `spareMs`: tools beyond the likeliest are started as long as they finish within this time. */
  start: (signal: AbortSignal, spareMs: number) => Promise<void>;
  /** Cancels what was started; later starts do nothing. */
  drop: () => void;
}

interface PrefetchOptions {
  catalogue: ToolCatalogue;
  fetcher: ResultFetcher;
  size: Pick<PreparedImage['info'], 'width' | 'height'>;
  hasReference: boolean;
}

export function createPrefetch({ catalogue, fetcher, size, hasReference }: PrefetchOptions): Prefetch {
  const dropped = new AbortController();
  return {
    async start(signal, spareMs) {
      const [{ measurements }, tools] = await Promise.all([catalogue.list(), catalogue.runnable()]);
      if (dropped.signal.aborted) return;
      const likely = predictTools({ tools, type: hasReference ? 'FR' : 'NR', size, spareMs });
      fetcher.start(
        [
          fetcher.requestMeasurements(WHOLE_IMAGE, measurements.version),
          ...likely.map((tool) => fetcher.requestTool(WHOLE_IMAGE, tool)),
        ],
        AbortSignal.any([signal, dropped.signal]),
      );
      // The socket takes a part of the file at a time: without this pause the rest waits until the planner is done.
      await setImmediate();
    },
    drop() {
      dropped.abort(new DOMException('No longer needed', 'AbortError'));
    },
  };
}
