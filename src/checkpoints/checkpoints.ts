// What the durable assessor works with: the store, its runs and pictures, and the rules by which they end.
import type { Logger } from 'pino';
import type { Assessment } from '../../schemas/responses/assessment.ts';
import { THIS_PROCESS } from './lease.ts';
import { createPictureStore, type PictureStore } from './images.ts';
import { createRunTable, type RunTable } from './run-table.ts';
import type { CheckpointConfig } from './settings.ts';
import { openStore } from './store.ts';
import { TolerantSaver } from './best-effort-saver.ts';

export interface Checkpoints {
  saver: TolerantSaver;
  table: RunTable;
  pictures: PictureStore;
  /** This process, as the leases know it. */
  owner: string;
  leaseMs: number;
  /** Runs that this process works on. */
  active: Set<string>;
  /** Ends a run that has its answer; what kept it from being stored wholly, if anything did. */
  settle: (id: string, folder: string, answer: Assessment) => Promise<unknown>;
  /** Leaves an unfinished run to whoever resumes it. */
  release: (id: string, log: Logger) => Promise<void>;
  /** Removes all there is of a run that this process owns; its row last, so that an interrupted removal is found and repeated. */
  forget: (id: string, folder: string) => Promise<void>;
  /** Removes what is too old or too much. */
  sweep: () => Promise<number>;
  close: () => Promise<void>;
}

const HOUR_MS = 3_600_000;
/** Between two sweeps no more than this many runs are added. */
const RUNS_PER_SWEEP = 200;

export async function openCheckpoints(config: CheckpointConfig, log: Logger): Promise<Checkpoints> {
  // First the folders: SQLite's file lies in them, and a Postgres that was opened in vain would have to be closed again.
  const pictures = await createPictureStore(config.dir);
  const store = await openStore(config);
  const saver = new TolerantSaver(store.saver);
  const table = createRunTable(store, config.lease_ms);
  const owner = THIS_PROCESS;
  const background = new Set<Promise<unknown>>();
  const active = new Set<string>();
  const { max_age_hours, max_runs, max_bytes, sweep_seconds } = config.retention;
  let unswept = 0;

  /** Work that no answer waits for; closing does. */
  function later(work: Promise<unknown>, failed: string): void {
    const tracked: Promise<unknown> = work
      .catch((error: unknown) => {
        log.warn({ err: error }, failed);
      })
      .finally(() => background.delete(tracked));
    background.add(tracked);
  }

  async function forget(id: string, folder: string): Promise<void> {
    await Promise.all([saver.deleteThread(id), pictures.remove(folder)]);
    await table.remove(id, owner);
  }

  async function sweep(): Promise<number> {
    unswept = 0;
    const expired = await table.claimExpired(owner, {
      maxAgeMs: Math.round(max_age_hours * HOUR_MS),
      maxRuns: max_runs,
      maxBytes: max_bytes,
    });
    for (const { id, folder } of expired) await forget(id, folder);
    if (expired.length > 0) log.info({ removed: expired.length }, 'Old checkpoints removed');
    return expired.length;
  }

  const sweepLater = () => {
    later(sweep(), 'Old checkpoints could not be removed');
  };
  await sweep();
  const timer = setInterval(sweepLater, sweep_seconds * 1000);
  timer.unref();

  return {
    saver,
    table,
    pictures,
    owner,
    active,
    leaseMs: config.lease_ms,
    forget,
    sweep,
    async settle(id, folder, answer) {
      const failure = saver.takeFailure(id);
      unswept += 1;
      if (unswept >= RUNS_PER_SWEEP) sweepLater();
      try {
        if (config.finished === 'drop') later(forget(id, folder), 'A finished run could not be removed');
        else {
          await table.finish(id, owner, JSON.stringify(answer));
          later(
            Promise.all([saver.deleteThread(id), pictures.remove(folder)]),
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
        runLog.warn({ err: error, assessment_id: id }, 'The lease could not be given back; it ends by itself');
      });
    },
    async close() {
      clearInterval(timer);
      await Promise.all(background);
      await store.close();
    },
  };
}
