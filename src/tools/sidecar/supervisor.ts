// Runs the sidecar as a child process and restarts it with backoff when it dies; it never outlives this process.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { getMessage } from '../../errors.ts';
import type { SidecarOrigin } from './client.ts';

interface SidecarCommand {
  command: string;
  args: readonly string[];
  cwd: string;
}

export interface SidecarSupervisor {
  origin: SidecarOrigin;
  pid: () => number | null;
  /** Resolves when it first listens; rejects if it never does. */
  started: Promise<unknown>;
  stop: () => Promise<void>;
}

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;
/** A child that has listened is able to start, so it is restarted sooner. */
const MAX_DELAY_AFTER_LISTENING_MS = 800;
/** A child that listened this long was healthy: the backoff starts over. */
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
      const maxDelay = origin === null ? MAX_DELAY_MS : MAX_DELAY_AFTER_LISTENING_MS;
      origin = null;
      child = null;
      if (isStopping()) return;
      failures += 1;
      if (failures >= FIRST_START_ATTEMPTS) neverStarted(new Error(`The sidecar does not start: ${reason}`));
      const wait = Math.min(maxDelay, FIRST_DELAY_MS * 2 ** (failures - 1));
      log.warn({ reason, restart_in_ms: wait }, 'Sidecar died; restarting');
      await delay(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  /** Starts the child once; resolves with the reason why it ended. */
  function runOnce(): Promise<string> {
    const { promise: ended, resolve: end } = deferred<string>();
    // Detached, because Ctrl-C signals the whole foreground group and the child must be stopped in order. It exits by itself
    // when its standard input closes, which also happens if this process is killed with SIGKILL.
    const running = spawn(command.command, [...command.args], { cwd: command.cwd, detached: true, stdio: 'pipe' });
    child = running;
    let healthy: NodeJS.Timeout | undefined;
    let lastLine = '';
    running.on('error', (error) => {
      end(getMessage(error));
    });
    running.on('exit', (code, signal) => {
      clearTimeout(healthy);
      end(`${signal ?? `exit code ${code ?? '?'}`}${lastLine === '' ? '' : `: ${lastLine}`}`);
    });
    running.stdin.on('error', () => undefined);
    createInterface(running.stderr).on('line', (line) => {
      lastLine = line;
      const entry = parseLine(line);
      const { level, request_id } = (typeof entry === 'object' && entry !== null ? entry : {}) as {
        level?: string;
        request_id?: string;
      };
      log[/^(warning|error|critical)$/i.test(level ?? '') ? 'warn' : 'info'](
        { sidecar: entry, ...(request_id ? { request_id } : {}) },
        'Sidecar',
      );
    });
    createInterface(running.stdout).once('line', (line) => {
      const { host, port, pid } = (parseLine(line) ?? {}) as { host?: string; port?: number; pid?: number };
      if (!host || !port) {
        lastLine = `unexpected first line: ${line}`;
        running.kill('SIGKILL');
        return;
      }
      origin = `http://${host}:${port}`;
      healthy = setTimeout(() => {
        failures = 0;
      }, HEALTHY_AFTER_MS);
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
      const overdue = setTimeout(() => {
        if (running?.pid) killGroup(running.pid);
      }, STOP_GRACE_MS);
      await finished;
      clearTimeout(overdue);
    },
  };
}

/** Promise.withResolvers, which Node 20 does not have. */
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
    // It has already exited.
  }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return line;
  }
}
