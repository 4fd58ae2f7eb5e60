// The process: reads the settings, starts the sidecar and the app, and stops them in order on a signal.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { pino, type Logger } from 'pino';
import { createAdmission, type Admission } from './assessments/admission.ts';
import { buildApp } from './app.ts';
import { loadConfig, type Config } from './config/config.ts';
import { ConfigError, getMessage } from './errors.ts';
import { createSpool } from './uploads/spool.ts';
import { createSidecarClient } from './tools/sidecar/client.ts';
import { superviseSidecar, type SidecarSupervisor } from './tools/sidecar/supervisor.ts';

try {
  await serve(loadConfig());
} catch (error) {
  // One sentence without a stack: the usual cause is a wrong setting.
  process.stderr.write(`agentic-iqa cannot start: ${explainStartError(error)}\n`);
  process.exit(1);
}

async function serve(config: Config): Promise<void> {
  const log = pino({
    level: config.logLevel,
    base: { service: 'agentic-iqa' },
    timestamp: pino.stdTimeFunctions.isoTime,
  });
  const spool = await createSpool(config.spoolDir);
  const supervisor = config.sidecarUrl === null ? superviseSidecar(buildSidecarCommand(config), log) : null;
  const sidecar = createSidecarClient(supervisor?.origin ?? (() => config.sidecarUrl));
  const pyiqa = config.pyiqaSidecarUrl === null ? null : createSidecarClient(() => config.pyiqaSidecarUrl);
  const admission = createAdmission(config.pipeline.admission);
  const cleanUp = async () => {
    await supervisor?.stop();
    await sidecar.close();
    await pyiqa?.close();
    await spool.close();
  };
  try {
    const app = await buildApp(config, { log, spool, sidecar, pyiqa, admission });
    await app.listen({ host: config.host, port: config.port });
    stopOnSignals({ app, admission, graceMs: config.shutdownGraceMs, log, cleanUp });
    reportStart(app, config, log, supervisor);
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

function buildSidecarCommand(config: Config) {
  const cwd = join(config.root, 'sidecar');
  const command = join(cwd, '.venv', 'bin', 'python');
  if (!existsSync(command))
    throw new ConfigError('The sidecar has no Python environment yet; "npm run setup" creates it');
  const workers = config.pipeline.sidecar.workers || availableParallelism();
  const { queue } = config.pipeline.sidecar;
  const server = ['--host', '127.0.0.1', '--port', '0', '--workers', String(workers), '--queue', String(queue)];
  return {
    command,
    cwd,
    args: [
      '-m',
      'iqa_sidecar',
      ...server,
      '--log-level',
      'warning',
      '--exit-with-stdin',
      ...buildSidecarLimits(config),
    ],
  };
}

/** Room for image and reference, each re-encoded to uncompressed pixels at worst. */
function buildSidecarLimits({ maxPixels, maxUploadBytes }: Config): string[] {
  const perImage = Math.max(3 * maxPixels, maxUploadBytes);
  return ['--max-pixels', String(maxPixels), '--max-bytes', String(2 * perImage + 2 ** 20)];
}

function reportStart(app: FastifyInstance, config: Config, log: Logger, supervisor: SidecarSupervisor | null): void {
  const address = app.listeningOrigin;
  log.info({ address, version: config.version }, `Listening on ${address}, documentation at ${address}/docs`);
  supervisor?.started.catch((error: unknown) => {
    log.error({ err: error }, 'The sidecar does not start; requests get 503 until it does');
  });
}

interface Stoppable {
  app: FastifyInstance;
  admission: Admission;
  graceMs: number;
  log: Logger;
  cleanUp: () => Promise<void>;
}

/** npm forwards the SIGINT that the terminal has already sent to its child: one Ctrl-C arrives twice within this time. */
const SAME_CTRL_C_MS = 1_000;

/** Refuses new requests with 503 while running ones finish, then closes. A second Ctrl-C ends the process at once. */
function stopOnSignals({ app, admission, graceMs, log, cleanUp }: Stoppable): void {
  let stoppingSince: number | null = null;
  const stop = async (signal: NodeJS.Signals) => {
    if (stoppingSince !== null) {
      if (signal === 'SIGINT' && performance.now() - stoppingSince > SAME_CTRL_C_MS) process.exit(130);
      return;
    }
    stoppingSince = performance.now();
    log.info({ signal, ...admission.statistics() }, 'Stopping');
    await Promise.race([admission.drain(), delay(graceMs)]);
    // Connections that are still open are idle or have used up the grace period.
    const closing = app.close();
    app.server.closeAllConnections();
    await closing;
    await cleanUp();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));
}

function explainStartError(error: unknown): string {
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE') return `port ${port ?? '?'} is taken; set IQA_PORT to a free one`;
  if (code === 'EACCES' && port !== undefined)
    return `port ${port} may not be used by this user; set IQA_PORT to one above 1023`;
  return getMessage(error);
}
