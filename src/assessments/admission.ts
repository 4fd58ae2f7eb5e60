// Back-pressure: how many requests may be in the house, how many of them may work at once, and what the rest are told.
import { IqaError } from '../errors.ts';

export interface AdmissionLimits {
  /** Assessments at work at the same time that measure only. */
  running: number;
  /** Further ones that mostly wait for a model: they must not keep the others from their turn. 0: both share `running`. */
  thinking?: number;
  /** Further requests that may upload or wait before the first one is refused. */
  waiting: number;
}

/** What an assessment spends its time with. */
export type Lane = 'measuring' | 'thinking';

export interface Admission {
  /**
   * A seat in the house, taken before the body is read, or IQA_BUSY. The returned function gives it back; calling it again does nothing.
   * Who will work in several places at once takes as many seats, or all there are.
   */
  enter: (seats?: number) => () => void;
  /** Does the work when its turn comes, first come first served in its lane. A signal that fires while it waits takes it out of the queue. */
  run: <T>(work: () => Promise<T>, signal: AbortSignal, lane?: Lane) => Promise<T>;
  /** Nobody enters any more; resolves when everybody has left. */
  drain: () => Promise<void>;
  isDraining: () => boolean;
  statistics: () => { running: number; waiting: number };
}

/** Who stops does not come back at once: a gateway should have found another instance by then. */
const STOPPING_RETRY_SECONDS = 5;

/** Of the seats for those who wait: who waits for a model may not fill the house for the others. */
const THINKING_SHARE = 0.5;

export function createAdmission({ running: places, thinking = 0, waiting }: AdmissionLimits): Admission {
  const all = places + thinking + waiting;
  const measuring = createTurns(places);
  const lanes: Record<Lane, Turns> = {
    measuring,
    thinking: thinking > 0 ? createTurns(thinking, Math.ceil(waiting * THINKING_SHARE)) : measuring,
  };
  const running = () => [...new Set(Object.values(lanes))].reduce((sum, lane) => sum + lane.running(), 0);
  let seated = 0;
  let draining = false;
  const emptied: (() => void)[] = [];

  const leave = (seats: number) => {
    seated -= seats;
    if (seated === 0) for (const resolve of emptied.splice(0)) resolve();
  };

  return {
    enter(wanted = 1) {
      const seats = Math.min(wanted, all);
      if (draining)
        throw new IqaError('IQA_BUSY', 'The service is stopping; try again in a moment', {
          retryAfter: STOPPING_RETRY_SECONDS,
        });
      if (seated + seats > all) throw busy(running(), seated - running(), measuring.secondsFor(seated));
      seated += seats;
      let left = false;
      return () => {
        if (!left) leave(seats);
        left = true;
      };
    },
    async run(work, signal, lane = 'measuring') {
      signal.throwIfAborted();
      const release = await lanes[lane].turn(signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
    drain() {
      draining = true;
      return seated === 0 ? Promise.resolve() : new Promise((resolve) => emptied.push(resolve));
    },
    isDraining: () => draining,
    statistics: () => ({ running: running(), waiting: seated - running() }),
  };
}

interface Turns {
  /** Resolves when it is one's turn, with what ends it. */
  turn: (signal: AbortSignal) => Promise<() => void>;
  running: () => number;
  /** How long so many would take, for an honest Retry-After. */
  secondsFor: (requests: number) => number;
}

function createTurns(places: number, longestQueue = Infinity): Turns {
  let running = 0;
  // Moving average of how long a run takes.
  let averageMs = 500;
  const queue: (() => void)[] = [];
  const secondsFor = (requests: number): number => Math.max(1, Math.ceil((requests * averageMs) / places / 1000));

  function begin(): () => void {
    running += 1;
    const startedAt = performance.now();
    return () => {
      averageMs += 0.2 * (performance.now() - startedAt - averageMs);
      running -= 1;
      queue.shift()?.();
    };
  }

  return {
    running: () => running,
    secondsFor,
    async turn(signal) {
      if (running < places) return begin();
      if (queue.length >= longestQueue) throw busy(running, queue.length, secondsFor(queue.length));
      return new Promise((resolve, reject) => {
        const called = () => {
          signal.removeEventListener('abort', giveUp);
          resolve(begin());
        };
        const giveUp = () => {
          queue.splice(queue.indexOf(called), 1);
          reject(signal.reason as Error);
        };
        queue.push(called);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    },
  };
}

const busy = (running: number, waiting: number, retryAfter: number): IqaError =>
  new IqaError(
    'IQA_BUSY',
    `Too many requests at once: ${running} are at work and ${waiting} wait; try again in ${retryAfter} s`,
    { retryAfter },
  );
