// Starts the app with its own sidecar for scripts that send it a few requests.
import { join } from 'node:path';
import { pino } from 'pino';
import { buildApp } from '../src/app.ts';
import type { Config } from '../src/config/config.ts';
import { createSpool } from '../src/uploads/spool.ts';
import { createSidecarClient } from '../src/tools/sidecar/client.ts';
import { superviseSidecar } from '../src/tools/sidecar/supervisor.ts';

export interface LocalService {
  assess: (fields: {
    image: Buffer;
    query: string;
    backend: string;
  }) => Promise<{ status: number; body: unknown; elapsedMs: number }>;
  stop: () => Promise<void>;
}

export async function startLocalService(config: Config): Promise<LocalService> {
  const log = pino({ level: process.env['IQA_LOG_LEVEL'] ?? 'silent' });
  const cwd = join(config.root, 'sidecar');
  const args = ['-m', 'iqa_sidecar', '--port', '0', '--log-level', 'warning', '--exit-with-stdin'];
  const supervisor =
    config.sidecarUrl === null ? superviseSidecar({ command: join(cwd, '.venv/bin/python'), cwd, args }, log) : null;
  await supervisor?.started;
  const sidecar = createSidecarClient(supervisor?.origin ?? (() => config.sidecarUrl));
  const spool = await createSpool(config.spoolDir);
  const app = await buildApp(config, { log, spool, sidecar });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    async assess({ image, query, backend }) {
      const form = new FormData();
      form.append('image', new Blob([new Uint8Array(image)]), 'image');
      form.append('query', query);
      form.append('backend', backend);
      const started = performance.now();
      const response = await fetch(`${address}/assess`, { method: 'POST', body: form });
      return { status: response.status, body: await response.json(), elapsedMs: performance.now() - started };
    },
    async stop() {
      await app.close();
      await sidecar.close();
      await supervisor?.stop();
      await spool.close();
    },
  };
}
