// Who works on a run: a lease that is renewed while the work goes on, so that no two processes work on the same run.
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import type { Logger } from 'pino';
import { IqaError } from '../errors.ts';
import type { RunTable } from './run-table.ts';
import { isRunning } from '../lib/is-process-alive.ts';

const machine = findMachine();
/** Names this process for as long as it lives: the machine, the process id on it, and something nobody else has. */
export const THIS_PROCESS = [machine, process.pid, randomUUID()].join('|');

/** Certain only of processes of this machine that are gone: their runs need not wait for the lease to end. */
export function isDead(owner: string): boolean {
  const [ownMachine, pid] = owner.split('|');
  if (owner === THIS_PROCESS || machine === '' || ownMachine !== machine) return false;
  // Our own process id under another name: whoever had it before us is gone.
  return Number(pid) === process.pid || !isRunning(Number(pid));
}

export interface Lease {
  /** Aborted when somebody else has taken the run over. */
  signal: AbortSignal;
  end: () => void;
}

export function holdLease(table: RunTable, id: string, owner: string, leaseMs: number, log: Logger): Lease {
  const controller = new AbortController();
  const renew = async () => {
    try {
      if (!(await table.renew(id, owner)))
        controller.abort(
          new IqaError('IQA_INPUT_RUN_ACTIVE', 'Another process has taken this assessment over', { retryAfter: 1 }),
        );
    } catch (error) {
      // Whether the run is still ours is unknown then; the store may be back before the lease ends.
      log.warn({ err: error, assessment_id: id }, 'The lease could not be renewed');
    }
  };
  const timer = setInterval(() => void renew(), leaseMs / 3);
  timer.unref();
  return {
    signal: controller.signal,
    end: () => {
      clearInterval(timer);
    },
  };
}

/** Process ids mean something only within one boot and one process namespace; where these cannot be told, nothing is concluded. */
function findMachine(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}
