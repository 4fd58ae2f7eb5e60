// Runs the sidecar as a child: starts it, restarts it with back-off when it dies, and never lets it outlive us.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { messageOf } from '../../errors.ts';
import type { SidecarOrigin } from './client.ts';

export interface SidecarCommand {
  command: string;
  args: readonly string[];
  cwd: string;
}

export interface SidecarSupervisor {
  origin: SidecarOrigin;
  pid: () => number | null;
  /** Resolves once it listens for the first time; rejects when it never does. */
  started: Promise<unknown>;
  stop: () => Promise<void>;
}

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;
/** For a child that had listened: it can start, so that whoever killed it should not be waited for long. */
const LONGEST_DELAY_AFTER_LISTENING_MS = 800;
/** A child that listened this long was healthy: the next restart is quick again. */
const HEALTHY_AFTER_MS = 1_000;
const STOP_GRACE_MS = 5_000;
const FIRST_START_ATTEMPTS = 3;

export function superviseSidecar(command: SidecarCommand, log: Logger): SidecarSupervisor {
  let origin: string | null = null;
  let child: ChildProcessWithoutNullStreams | null = null;
  let failures = 0;
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  const { promise: started, resolve: hasStarted, reject: neverStarted } = deferred<undefined>();

  async function keepAlive(): Promise<void> {
    while (!isStopping()) {
      const reason = await runOnce();
      const longest = origin === null ? LONGEST_DELAY_MS : LONGEST_DELAY_AFTER_LISTENING_MS;
      origin = null;
      child = null;
      if (isStopping()) return;
      failures += 1;
      if (failures >= FIRST_START_ATTEMPTS) neverStarted(new Error(`The sidecar does not start: ${reason}`));
      const wait = Math.min(longest, FIRST_DELAY_MS * 2 ** (failures - 1));
      log.warn({ reason, restart_in_ms: wait }, 'Sidecar died; restarting');
      await delay(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  /** One life of the child; resolves with why it ended. */
  function runOnce(): Promise<string> {
    const { promise: ended, resolve: end } = deferred<string>();
    // Detached: Ctrl-C reaches the whole foreground group, and we want to stop it in order. It ends by itself when
    // its standard input closes, which also happens when we are killed with -9.
    const running = spawn(command.command, [...command.args], { cwd: command.cwd, detached: true, stdio: 'pipe' });
    child = running;
    let healthy: NodeJS.Timeout | undefined;
    let lastWords = '';
    running.on('error', (error) => { end(messageOf(error)); });
    running.on('exit', (code, signal) => {
      clearTimeout(healthy);
      end(`${signal ?? `exit code ${code ?? '?'}`}${lastWords === '' ? '' : `: ${lastWords}`}`);
    });
    running.stdin.on('error', () => undefined);
    createInterface(running.stderr).on('line', (line) => {
      lastWords = line;
      const entry = readLog(line);
      const { level, request_id } = (typeof entry === 'object' && entry !== null ? entry : {}) as { level?: string; request_id?: string };
      log[/^(warning|error|critical)$/i.test(level ?? '') ? 'warn' : 'info']({ sidecar: entry, ...(request_id ? { request_id } : {}) }, 'Sidecar');
    });
    createInterface(running.stdout).once('line', (line) => {
      const { host, port, pid } = (readLog(line) ?? {}) as { host?: string; port?: number; pid?: number };
      if (!host || !port) {
        lastWords = `unexpected first line: ${line}`;
        running.kill('SIGKILL');
        return;
      }
      origin = `http://${host}:${port}`;
      healthy = setTimeout(() => { failures = 0; }, HEALTHY_AFTER_MS);
      log.info({ sidecar_pid: pid, sidecar_port: port }, 'Sidecar listens');
      hasStarted(undefined);
    });
    return ended;
  }

  const finished = keepAlive();
  started.catch(() => undefined);
  return {
    origin: () => origin,
    pid: () => child?.pid ?? null,
    started,
    async stop() {
      stopping.abort();
      const running = child;
      running?.stdin.end();
      const overdue = setTimeout(() => { if (running?.pid) killGroup(running.pid); }, STOP_GRACE_MS);
      await finished;
      clearTimeout(overdue);
    },
  };
}

/** Promise.withResolvers, which Node 20 does not have yet. */
function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: Error) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended in the meantime.
  }
}

function readLog(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return line;
  }
}
