// Measures what checkpoints cost per assessment of a 512 × 384 JPEG, tool cache warm: without a store, with SQLite, with Postgres.
// Usage: IQA_CHECKPOINTS_URL=postgresql://… npm run bench:checkpoints; without the variable Postgres is skipped.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { buildApp } from '../src/app.ts';
import { loadConfig } from '../src/config/config.ts';
import { createSpool } from '../src/uploads/spool.ts';
import { createSidecarClient } from '../src/tools/sidecar/client.ts';
import { superviseSidecar } from '../src/tools/sidecar/supervisor.ts';
import { formRequest, sidecarCommand } from '../test/support/app.ts';
import { makeImage } from '../test/support/images/images.ts';
import { pickQuantile, roundTo2, saveResult } from './save-result.ts';

const ROUNDS = 5;
const REQUESTS_PER_ROUND = 60;

const url = process.env['IQA_CHECKPOINTS_URL'];
const log = pino({ level: 'info' }, pino.destination('/dev/null'));
const supervisor = superviseSidecar(sidecarCommand(['--workers', '1']), log);
await supervisor.started;
const sidecar = createSidecarClient(supervisor.origin);
const dir = mkdtempSync(join(tmpdir(), 'iqa-bench-'));
const spool = await createSpool(dir);
const request = await formRequest({ image: await makeImage().jpeg({ quality: 90 }).toBuffer() });

const stores = ['none', 'sqlite', ...(url ? ['postgres'] : [])];
const apps = await Promise.all(
  stores.map(async (store) => ({
    store,
    samples: [] as number[],
    cpu: 0,
    app: await buildApp(
      loadConfig({ IQA_CHECKPOINTS: store, IQA_CHECKPOINTS_DIR: join(dir, store), IQA_CHECKPOINTS_URL: url }),
      { log, spool, sidecar },
    ),
  })),
);
for (let round = 0; round <= ROUNDS; round += 1) {
  // Interleaved, so that other load on the machine affects all stores alike.
  for (const entry of apps) {
    const before = process.cpuUsage();
    for (let count = 0; count < REQUESTS_PER_ROUND; count += 1) {
      const started = performance.now();
      const { statusCode } = await entry.app.inject(request);
      if (statusCode !== 200) throw new Error(`${entry.store}: ${statusCode}`);
      if (round > 0) entry.samples.push(performance.now() - started);
    }
    const { user, system } = process.cpuUsage(before);
    if (round > 0) entry.cpu += (user + system) / 1000;
  }
}
for (const { app } of apps) await app.close();
await sidecar.close();
await supervisor.stop();
await spool.close();
rmSync(dir, { recursive: true, force: true });

const base = pickQuantile(apps[0]?.samples ?? [], 0.5);
saveResult('checkpoints', {
  image: '512 × 384 JPEG, tool cache warm',
  requests: ROUNDS * REQUESTS_PER_ROUND,
  stores: Object.fromEntries(
    apps.map(({ store, samples, cpu }) => {
      const p50 = pickQuantile(samples, 0.5);
      return [
        store,
        {
          p50_ms: p50,
          added_ms: roundTo2(p50 - base),
          ratio: roundTo2(p50 / base),
          cpu_ms: roundTo2(cpu / samples.length),
        },
      ];
    }),
  ),
});
