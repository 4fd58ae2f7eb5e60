// The lease of a run: renewed while it runs, so that no two processes work on it.
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import type { FastifyBaseLogger } from 'fastify';
import { IqaError } from '../errors.ts';
import type { RunTable } from './run-table.ts';
import { isProcessAlive } from '../lib/is-process-alive.ts';

const machine = identifyMachine();
/** Unique name of this process: machine, process id and a random id. */
export const THIS_PROCESS = [machine, process.pid, randomUUID()].join('|');

/** Known only for processes on this machine: their runs need not wait for the lease to expire. */
export function isOwnerDead(owner: string): boolean {
  const [ownerMachine, pid] = owner.split('|');
  if (owner === THIS_PROCESS || machine === '' || ownerMachine !== machine) return false;
  // An owner with the id of this process but another random id is an earlier process.
  return Number(pid) === process.pid || !isProcessAlive(Number(pid));
}

interface Lease {
  /** Aborted when another process has claimed the run. */
  signal: AbortSignal;
  end: () => void;
}

export function holdLease(table: RunTable, id: string, owner: string, leaseMs: number, log: FastifyBaseLogger): Lease {
  const controller = new AbortController();
  const renew = async () => {
    try {
      if (!(await table.renew(id, owner)))
        controller.abort(
          new IqaError('IQA_INPUT_RUN_ACTIVE', 'Another process has taken over this assessment', { retryAfter: 1 }),
        );
    } catch (error) {
      // The store may be back before the lease expires.
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

/** Process ids are unique only within one boot and one PID namespace. Empty if these are unknown. */
function identifyMachine(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}
