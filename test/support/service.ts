// Starts the built service as its users do, and watches the processes it leaves behind.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { projectRoot } from '../../src/config/config.ts';

export interface Service {
  child: ChildProcess;
  address: string;
  sidecarPid: number | null;
  logs: Record<string, unknown>[];
  exited: Promise<number | null>;
}

/** `npm start`, or node alone, on a free port; resolves when it is ready. */
export async function startService(
  t: Test,
  {
    command = ['node', 'dist/src/server.js'],
    environment = {},
  }: { command?: string[]; environment?: Record<string, string> } = {},
): Promise<Service> {
  const [program = 'node', ...args] = command;
  const child = spawn(program, args, {
    cwd: projectRoot(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, IQA_PORT: '0', SIDECAR_URL: '', NODE_V8_COVERAGE: '', ...environment },
  });
  t.teardown(() => {
    killGroup(child.pid);
  });
  const exited = new Promise<number | null>((resolve) =>
    child.on('exit', (code) => {
      resolve(code);
    }),
  );
  const logs: Record<string, unknown>[] = [];
  createInterface(child.stdout).on('line', (line) => {
    if (line.startsWith('{')) logs.push(JSON.parse(line) as Record<string, unknown>);
  });
  child.stderr.resume();
  const find = (field: string) => logs.find((line) => field in line)?.[field];
  await until(() => find('address') !== undefined);
  const address = String(find('address'));
  await until(async () => (await fetch(`${address}/ready`).catch(() => null))?.status === 200);
  const sidecarPid = find('sidecar_pid');
  return { child, address, sidecarPid: sidecarPid === undefined ? null : Number(sidecarPid), logs, exited };
}

/** So long that no busy machine fails by it: where the process to be started gets a fiftieth of a processor, 30 s were not enough. */
const PATIENCE_MS = 120_000;

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('It did not happen in time');
    await delay(25);
  }
}

export const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');

/** Every process of the group that `pid` leads: the sidecar, its fork server and its workers. */
export function groupOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => {
      try {
        const stat = readFileSync(`/proc/${candidate}/stat`, 'utf8');
        const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return state !== 'Z' && Number(group) === pid;
      } catch {
        return false;
      }
    });
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}
