// Results on their way: what a running sidecar call will bring can be waited for by anybody, and is asked for only once.
import type { MeasureEvent, MeasurementsEvent, ToolEvent } from '../../../schemas/sidecar.ts';
import { IqaError } from '../../errors.ts';

export type ResultEvent = MeasurementsEvent | ToolEvent;

export interface RunningCalls {
  /** Follows a call that will bring these keys; `keyOf` tells which one an event is. */
  follow: (
    events: AsyncGenerator<MeasureEvent>,
    keys: readonly string[],
    keyOf: (event: ResultEvent) => string,
  ) => void;
  waitFor: (key: string) => Promise<ResultEvent> | undefined;
  /** The sidecar's own time, of calls that were cut short as far as they told. */
  sidecarMs: () => number;
}

export function createRunningCalls(onResult: (key: string, event: ResultEvent) => void): RunningCalls {
  const waiting = new Map<string, Promise<ResultEvent>>();
  const times: { ms: number }[] = [];

  async function consume(
    events: AsyncGenerator<MeasureEvent>,
    settle: Map<string, Deferred>,
    keyOf: (event: ResultEvent) => string,
  ): Promise<void> {
    const own = { ms: 0 };
    times.push(own);
    try {
      for await (const event of events) {
        own.ms = Math.max(own.ms, elapsedAt(event));
        if (event.event === 'tool' || event.event === 'measurements') {
          const key = keyOf(event);
          if (event.error === null && settle.has(key)) onResult(key, event);
          settle.get(key)?.resolve(event);
          settle.delete(key);
        }
      }
      throw new IqaError('IQA_TOOL_FAILED', 'The sidecar gave no answer for a tool');
    } catch (error) {
      for (const { reject } of settle.values()) reject(error);
    }
  }

  return {
    follow(events, keys, keyOf) {
      const settle = new Map<string, Deferred>();
      for (const key of keys) {
        waiting.set(key, new Promise<ResultEvent>((resolve, reject) => settle.set(key, { resolve, reject })));
        // Nobody may be waiting for what was only fetched ahead. A failure is forgotten, so that it can be tried again.
        waiting.get(key)?.catch(() => waiting.delete(key));
      }
      void consume(events, settle, keyOf);
    },
    waitFor: (key) => waiting.get(key),
    sidecarMs: () => times.reduce((sum, { ms }) => sum + ms, 0),
  };
}

interface Deferred {
  resolve: (event: ResultEvent) => void;
  reject: (error: unknown) => void;
}

/** The sidecar's own clock: milliseconds since it had the whole request. */
function elapsedAt(event: MeasureEvent): number {
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
