// Opens the checkpoints of unfinished runs: stages, run table and images, with leases and retention.
import type { FastifyBaseLogger } from 'fastify';
import type { Assessment } from '../../schemas/responses/assessment.ts';
import { BestEffortSaver } from './best-effort-saver.ts';
import { createImageStore, type ImageStore } from './images.ts';
import { THIS_PROCESS } from './lease.ts';
import { createRunTable, type RunTable } from './run-table.ts';
import type { CheckpointConfig } from './settings.ts';
import { openStore } from './store.ts';

export interface Checkpoints {
  saver: BestEffortSaver;
  table: RunTable;
  images: ImageStore;
  /** The name of this process in leases. */
  owner: string;
  leaseMs: number;
  /** Ids of the runs in this process. */
  active: Set<string>;
  /** Stores the result and removes stages and images. Resolves with the first failure, if any. */
  finish: (id: string, folder: string, assessment: Assessment) => Promise<unknown>;
  /** Gives up the lease of an unfinished run, so that it can be resumed. */
  release: (id: string, log: FastifyBaseLogger) => Promise<void>;
  /** Removes a run that this process owns; its row last, so that an interrupted removal is repeated. */
  remove: (id: string, folder: string) => Promise<void>;
  /** Removes the runs that exceed the retention limits; resolves with their number. */
  sweep: () => Promise<number>;
  close: () => Promise<void>;
}

const HOUR_MS = 3_600_000;
/** Besides the timer, a sweep follows every so many finished runs. */
const RUNS_PER_SWEEP = 200;

export async function openCheckpoints(config: CheckpointConfig, log: FastifyBaseLogger): Promise<Checkpoints> {
  // Folders first: SQLite's file lies in them, and a failure here leaves no Postgres connection open.
  const images = await createImageStore(config.dir);
  const store = await openStore(config);
  const saver = new BestEffortSaver(store.saver);
  const table = createRunTable(store, config.lease_ms);
  const owner = THIS_PROCESS;
  const background = new Set<Promise<unknown>>();
  const active = new Set<string>();
  const { max_age_hours, max_runs, max_bytes, sweep_seconds } = config.retention;
  let runsSinceSweep = 0;

  /** No response waits for this work, but `close` does. */
  function runInBackground(work: Promise<unknown>, failureMessage: string): void {
    const tracked: Promise<unknown> = work
      .catch((error: unknown) => {
        log.warn({ err: error }, failureMessage);
      })
      .finally(() => background.delete(tracked));
    background.add(tracked);
  }

  async function remove(id: string, folder: string): Promise<void> {
    await Promise.all([saver.deleteThread(id), images.remove(folder)]);
    await table.remove(id, owner);
  }

  async function sweep(): Promise<number> {
    runsSinceSweep = 0;
    const expired = await table.claimExpired(owner, {
      maxAgeMs: Math.round(max_age_hours * HOUR_MS),
      maxRuns: max_runs,
      maxBytes: max_bytes,
    });
    for (const { id, folder } of expired) await remove(id, folder);
    if (expired.length > 0) log.info({ removed: expired.length }, 'Old checkpoints removed');
    return expired.length;
  }

  const sweepInBackground = () => {
    runInBackground(sweep(), 'Old checkpoints could not be removed');
  };
  await sweep();
  const timer = setInterval(sweepInBackground, sweep_seconds * 1000);
  timer.unref();

  return {
    saver,
    table,
    images,
    owner,
    active,
    leaseMs: config.lease_ms,
    remove,
    sweep,
    async finish(id, folder, assessment) {
      const failure = saver.takeFailure(id);
      runsSinceSweep += 1;
      if (runsSinceSweep >= RUNS_PER_SWEEP) sweepInBackground();
      try {
        if (config.finished === 'drop') runInBackground(remove(id, folder), 'A finished run could not be removed');
        else {
          await table.finish(id, owner, JSON.stringify(assessment));
          runInBackground(
            Promise.all([saver.deleteThread(id), images.remove(folder)]),
            'The stages of a finished run could not be removed',
          );
        }
        return failure;
      } catch (error) {
        return failure ?? error;
      }
    },
    async release(id, runLog) {
      saver.takeFailure(id);
      await table.release(id, owner).catch((error: unknown) => {
        runLog.warn({ err: error, assessment_id: id }, 'The lease could not be released; it will expire');
      });
    },
    async close() {
      clearInterval(timer);
      await Promise.all(background);
      await store.close();
    },
  };
}
