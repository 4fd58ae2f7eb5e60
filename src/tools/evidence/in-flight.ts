// Tracks sidecar calls in flight, so that a result already requested can be awaited instead of requested again.
import type { MeasureEvent, MeasurementsEvent, ToolEvent } from '../../../schemas/sidecar.ts';
import { IqaError } from '../../errors.ts';

export type ResultEvent = MeasurementsEvent | ToolEvent;

interface InFlightCalls {
  /** Tracks a call that will produce these keys; `findKey` maps an event to its key. */
  track: (
    events: AsyncGenerator<MeasureEvent>,
    keys: readonly string[],
    findKey: (event: ResultEvent) => string | undefined,
  ) => void;
  get: (key: string) => Promise<ResultEvent> | undefined;
  /** Total time in the sidecar; of cancelled calls, up to their last event. */
  sidecarMs: () => number;
}

export function createInFlightCalls(onResult: (key: string, event: ResultEvent) => void): InFlightCalls {
  const results = new Map<string, Promise<ResultEvent>>();
  const callTimes: { ms: number }[] = [];

  async function consume(
    events: AsyncGenerator<MeasureEvent>,
    pending: Map<string, Deferred>,
    findKey: (event: ResultEvent) => string | undefined,
  ): Promise<void> {
    const time = { ms: 0 };
    callTimes.push(time);
    try {
      for await (const event of events) {
        time.ms = Math.max(time.ms, readElapsedMs(event));
        if (event.event !== 'tool' && event.event !== 'measurements') continue;
        const key = findKey(event) ?? '';
        if (event.error === null && pending.has(key)) onResult(key, event);
        pending.get(key)?.resolve(event);
        pending.delete(key);
      }
      throw new IqaError('IQA_TOOL_FAILED', 'The sidecar gave no answer for a tool');
    } catch (error) {
      for (const { reject } of pending.values()) reject(error);
    }
  }

  return {
    track(events, keys, findKey) {
      const pending = new Map<string, Deferred>();
      for (const key of keys) {
        const result = new Promise<ResultEvent>((resolve, reject) => pending.set(key, { resolve, reject }));
        results.set(key, result);
        // A prefetched result may have no consumer. A failure is removed, so that it can be retried.
        result.catch(() => results.delete(key));
      }
      void consume(events, pending, findKey);
    },
    get: (key) => results.get(key),
    sidecarMs: () => callTimes.reduce((sum, { ms }) => sum + ms, 0),
  };
}

interface Deferred {
  resolve: (event: ResultEvent) => void;
  reject: (error: unknown) => void;
}

/** Milliseconds since the sidecar received the whole request. */
function readElapsedMs(event: MeasureEvent): number {
  switch (event.event) {
    case 'image':
      return event.queue_ms + event.decode_ms;
    case 'end':
      return event.time_ms;
    case 'error':
      return 0;
    default:
      return event.elapsed_ms;
  }
}
