// Back-pressure: limits the requests in flight and the runs at the same time; what exceeds the limits is refused with Retry-After.
import { IqaError } from '../errors.ts';
import type { AssessmentContext } from './context.ts';
import { createBusyError, createQueue, type Queue } from './queue.ts';

interface AdmissionLimits {
  /** Concurrent runs without a model. */
  running: number;
  /** Further concurrent runs with a model, which mostly wait for its provider. 0: both kinds share `running`. */
  model?: number;
  /** Further requests that may upload or wait before the next one is refused. */
  waiting: number;
}

/** Runs with a model have their own queue, so that slow providers do not delay the others. */
export type Lane = 'local' | 'model';

export interface Admission {
  /**
   * Takes slots before the body is read, or throws IQA_BUSY. The returned function releases them; calling it again has no effect.
   * A request that runs several assessments at once takes as many slots, but never more than exist.
   */
  acquire: (slots?: number) => () => void;
  /** Runs the work first come, first served within its lane. A signal that fires during the wait removes it from the queue. */
  run: <T>(work: () => Promise<T>, signal: AbortSignal, lane?: Lane) => Promise<T>;
  /** Refuses new requests; resolves when no request is in flight. */
  drain: () => Promise<void>;
  isDraining: () => boolean;
  statistics: () => { running: number; waiting: number };
}

/** A draining instance will not be back soon: by then a gateway uses another one. */
const DRAINING_RETRY_SECONDS = 5;
const QUEUE_TIMEOUT_RETRY_SECONDS = 5;

/** Share of the waiting slots that runs with a model may fill. */
const MODEL_QUEUE_SHARE = 0.5;

export function createAdmission({ running: local, model = 0, waiting }: AdmissionLimits): Admission {
  const totalSlots = local + model + waiting;
  const localQueue = createQueue(local);
  const queues: Record<Lane, Queue> = {
    local: localQueue,
    model: model > 0 ? createQueue(model, Math.ceil(waiting * MODEL_QUEUE_SHARE)) : localQueue,
  };
  const running = () => [...new Set(Object.values(queues))].reduce((sum, queue) => sum + queue.running(), 0);
  let usedSlots = 0;
  let draining = false;
  const drained: (() => void)[] = [];

  const release = (slots: number) => {
    usedSlots -= slots;
    if (usedSlots === 0) for (const resolve of drained.splice(0)) resolve();
  };

  return {
    acquire(wanted = 1) {
      const slots = Math.min(wanted, totalSlots);
      if (draining)
        throw new IqaError('IQA_BUSY', 'The service is shutting down; try again in a moment', {
          retryAfter: DRAINING_RETRY_SECONDS,
        });
      if (usedSlots + slots > totalSlots)
        throw createBusyError(running(), usedSlots - running(), localQueue.estimateSeconds(usedSlots));
      usedSlots += slots;
      let released = false;
      return () => {
        if (!released) release(slots);
        released = true;
      };
    },
    async run(work, signal, lane = 'local') {
      signal.throwIfAborted();
      const finish = await queues[lane].enter(signal);
      try {
        return await work();
      } finally {
        finish();
      }
    },
    drain() {
      draining = true;
      return usedSlots === 0 ? Promise.resolve() : new Promise((resolve) => drained.push(resolve));
    },
    isDraining: () => draining,
    statistics: () => ({ running: running(), waiting: usedSlots - running() }),
  };
}

/** Runs the work in the lane of its reasoner. A run that is still queued at its deadline is refused with IQA_BUSY. */
export async function runWhenAdmitted<T>(
  admission: Admission,
  { deadline, signal, reasoner }: Pick<AssessmentContext, 'deadline' | 'signal' | 'reasoner'>,
  work: () => Promise<T>,
): Promise<T> {
  const progress = { started: false };
  const startWork = () => {
    progress.started = true;
    return work();
  };
  const lane = reasoner.identity.kind === 'vlm' ? 'model' : 'local';
  try {
    return await admission.run(startWork, AbortSignal.any([signal, deadline.signal]), lane);
  } catch (error) {
    if (progress.started || !deadline.signal.aborted) throw error;
    throw new IqaError('IQA_BUSY', `The request waited ${deadline.limitMs} ms in the queue; try again in a moment`, {
      cause: error,
      retryAfter: QUEUE_TIMEOUT_RETRY_SECONDS,
    });
  }
}
