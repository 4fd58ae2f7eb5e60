// Builds the real app on the real sidecar for a test, and closes both with it.
import { join } from 'node:path';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { pino, type Logger } from 'pino';
import type { Test } from 'tap';
import { buildApp } from '../../src/app.ts';
import { loadConfig, projectRoot, type Config } from '../../src/config/config.ts';
import { createSpool, type Spool } from '../../src/uploads/spool.ts';
import { createSidecarClient, type SidecarOrigin } from '../../src/tools/sidecar/client.ts';
import { superviseSidecar } from '../../src/tools/sidecar/supervisor.ts';
import { makeTempFolder } from './temp-folder.ts';

export interface TestApp {
  app: FastifyInstance;
  config: Config;
  spool: Spool;
  logs: Record<string, unknown>[];
}

export interface TestAppOptions {
  environment?: Record<string, string>;
  origin?: SidecarOrigin;
  /** Where the optional tier runs. */
  pyiqa?: SidecarOrigin;
  /** Nothing is written down: for tests with very many requests. */
  quiet?: boolean;
  adjust?: (config: Config) => Config;
}

const asLoaded = (config: Config): Config => config;

export async function buildTestApp(
  t: Test,
  { environment = {}, origin, pyiqa, quiet = false, adjust = asLoaded }: TestAppOptions = {},
): Promise<TestApp> {
  const config = adjust(loadConfig(environment));
  const { log, logs } = quiet ? { log: pino({ level: 'silent' }), logs: [] } : captureLog();
  const spool = await createSpool(await makeTempFolder(t));
  const sidecar = createSidecarClient(origin ?? (await testSidecar(t)));
  const second = pyiqa ? createSidecarClient(pyiqa) : null;
  const app = await buildApp(config, { log, spool, sidecar, pyiqa: second });
  t.teardown(async () => {
    await app.close();
    await sidecar.close();
    await second?.close();
    await spool.close();
  });
  return { app, config, spool, logs };
}

/** The sidecar that the test run started for all files, or one of our own. */
export async function testSidecar(t: Test): Promise<SidecarOrigin> {
  const shared = process.env['IQA_TEST_SIDECAR_URL'];
  if (shared) return () => shared;
  const supervisor = superviseSidecar(sidecarCommand(), pino({ level: 'silent' }));
  t.teardown(() => supervisor.stop());
  await supervisor.started;
  return supervisor.origin;
}

/** `environment` is set for the sidecar alone, by env(1). */
export function sidecarCommand(
  args: readonly string[] = ['--workers', '1'],
  environment: Readonly<Record<string, string>> = {},
) {
  const cwd = join(projectRoot(), 'sidecar');
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const python = join(cwd, '.venv/bin/python');
  const options = ['-m', 'iqa_sidecar', '--port', '0', '--log-level', 'warning', '--exit-with-stdin', ...args];
  if (variables.length === 0) return { command: python, cwd, args: options };
  return { command: 'env', cwd, args: [...variables, python, ...options] };
}

export function captureLog(): { log: Logger; logs: Record<string, unknown>[] } {
  const logs: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'trace' },
    { write: (line: string) => void logs.push(JSON.parse(line) as Record<string, unknown>) },
  );
  return { log, logs };
}

export type FormFields = Record<string, string | Buffer | { data: Buffer; filename: string; type?: string }>;

/** A multipart POST, encoded by the platform's own FormData. */
export async function formRequest(fields: FormFields, url = '/assess'): Promise<InjectOptions> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.append(name, value);
    else if (Buffer.isBuffer(value)) form.append(name, new Blob([new Uint8Array(value)]), `${name}.bin`);
    else
      form.append(
        name,
        new Blob([new Uint8Array(value.data)], { type: value.type ?? 'application/octet-stream' }),
        value.filename,
      );
  }
  return encodeForm(form, url);
}

async function encodeForm(form: FormData, url: string): Promise<InjectOptions> {
  const encoded = new Response(form);
  return {
    method: 'POST',
    url,
    headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
    payload: Buffer.from(await encoded.arrayBuffer()),
  };
}

export interface ComparedFiles {
  images: readonly Buffer[];
  reference?: Buffer;
}

/** A multipart POST /compare: `images` repeated, a file each. */
export async function compareRequest(
  { images, reference }: ComparedFiles,
  fields: Record<string, string> = {},
): Promise<InjectOptions> {
  const form = new FormData();
  for (const [index, image] of images.entries())
    form.append('images', new Blob([new Uint8Array(image)]), `${index}.bin`);
  if (reference) form.append('reference', new Blob([new Uint8Array(reference)]), 'reference.bin');
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return encodeForm(form, '/compare');
}
