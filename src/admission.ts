// Back-pressure: how many requests may be in the house, how many of them may work at once, and what the rest are told.
import { IqaError } from './errors.ts';

export interface AdmissionLimits {
  /** Assessments at work at the same time. */
  running: number;
  /** Further requests that may upload or wait before the first one is refused. */
  waiting: number;
}

export interface Admission {
  /**
   * A seat in the house, taken before the body is read, or IQA_BUSY. The returned function gives it back; calling it again does nothing.
   * Who will work in several places at once takes as many seats, or all there are.
   */
  enter: (seats?: number) => () => void;
  /** Does the work when its turn comes, first come first served. A signal that fires while it waits takes it out of the queue. */
  run: <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;
  /** Nobody enters any more; resolves when everybody has left. */
  drain: () => Promise<void>;
  isDraining: () => boolean;
  statistics: () => { running: number; waiting: number };
}

/** Who stops does not come back at once: a gateway should have found another instance by then. */
const STOPPING_RETRY_SECONDS = 5;

export function createAdmission({ running: places, waiting }: AdmissionLimits): Admission {
  let seated = 0;
  let running = 0;
  let draining = false;
  // Moving average of how long a run takes, for an honest Retry-After.
  let averageMs = 500;
  const queue: (() => void)[] = [];
  const emptied: (() => void)[] = [];

  const leave = (seats: number) => {
    seated -= seats;
    if (seated === 0) for (const resolve of emptied.splice(0)) resolve();
  };

  function release(startedAt: number): void {
    averageMs += 0.2 * (performance.now() - startedAt - averageMs);
    running -= 1;
    queue.shift()?.();
  }

  function turn(signal: AbortSignal): Promise<void> {
    if (running < places) {
      running += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener('abort', giveUp);
        running += 1;
        resolve();
      };
      const giveUp = () => {
        queue.splice(queue.indexOf(begin), 1);
        reject(signal.reason as Error);
      };
      queue.push(begin);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  return {
    enter(wanted = 1) {
      const seats = Math.min(wanted, places + waiting);
      if (draining) throw new IqaError('IQA_BUSY', 'The service is stopping; try again in a moment', { retryAfter: STOPPING_RETRY_SECONDS });
      if (seated + seats > places + waiting) {
        const retryAfter = Math.max(1, Math.ceil((seated * averageMs) / places / 1000));
        throw new IqaError('IQA_BUSY', `Too many requests at once: ${running} are at work and ${seated - running} wait; try again in ${retryAfter} s`, { retryAfter });
      }
      seated += seats;
      let left = false;
      return () => {
        if (!left) leave(seats);
        left = true;
      };
    },
    async run(work, signal) {
      signal.throwIfAborted();
      await turn(signal);
      const startedAt = performance.now();
      try {
        return await work();
      } finally {
        release(startedAt);
      }
    },
    drain() {
      draining = true;
      return seated === 0 ? Promise.resolve() : new Promise((resolve) => emptied.push(resolve));
    },
    isDraining: () => draining,
    statistics: () => ({ running, waiting: seated - running }),
  };
}
