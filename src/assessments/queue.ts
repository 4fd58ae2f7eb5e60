// A first-in, first-out queue with a limit on concurrent runs.
import { IqaError } from '../errors.ts';

export interface Queue {
  /** Resolves when a run may start, with the function that ends it. */
  enter: (signal: AbortSignal) => Promise<() => void>;
  running: () => number;
  /** Expected duration of this many runs, for Retry-After. */
  estimateSeconds: (runs: number) => number;
}

export function createQueue(concurrency: number, maxWaiting = Infinity): Queue {
  let running = 0;
  // Moving average of the duration of a run.
  let averageMs = 500;
  const waiting: (() => void)[] = [];
  const estimateSeconds = (runs: number): number => Math.max(1, Math.ceil((runs * averageMs) / concurrency / 1000));

  function start(): () => void {
    running += 1;
    const startedAt = performance.now();
    return () => {
      averageMs += 0.2 * (performance.now() - startedAt - averageMs);
      running -= 1;
      waiting.shift()?.();
    };
  }

  return {
    running: () => running,
    estimateSeconds,
    async enter(signal) {
      if (running < concurrency) return start();
      if (waiting.length >= maxWaiting) throw createBusyError(running, waiting.length, estimateSeconds(waiting.length));
      return new Promise((resolve, reject) => {
        const startNext = () => {
          signal.removeEventListener('abort', cancel);
          resolve(start());
        };
        const cancel = () => {
          waiting.splice(waiting.indexOf(startNext), 1);
          reject(signal.reason as Error);
        };
        waiting.push(startNext);
        signal.addEventListener('abort', cancel, { once: true });
      });
    },
  };
}

export const createBusyError = (running: number, waiting: number, retryAfter: number): IqaError =>
  new IqaError(
    'IQA_BUSY',
    `Too many concurrent requests: ${running} running, ${waiting} waiting; try again in ${retryAfter} s`,
    { retryAfter },
  );
