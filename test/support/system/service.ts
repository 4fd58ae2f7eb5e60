// Starts the built service as a process and finds the processes that it starts.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { projectRoot } from '../../../src/config/config.ts';

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

/** Long enough for a busy machine: 30 s were too short for a process that gets 2 % of a CPU. */
const UNTIL_TIMEOUT_MS = 120_000;

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + UNTIL_TIMEOUT_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`The condition did not hold within ${UNTIL_TIMEOUT_MS} ms`);
    await delay(25);
  }
}

export const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');

/** All processes of the group that `pid` leads: the sidecar, its fork server and its workers. */
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
