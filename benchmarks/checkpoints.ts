// What checkpoints cost: milliseconds per assessment of a 512 × 384 JPEG, tool cache warm, without a store, with SQLite and with Postgres.
// Usage: IQA_CHECKPOINTS_URL=postgresql://… npm run bench:checkpoints; without it Postgres is left out.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { buildApp } from '../src/app.ts';
import { loadConfig } from '../src/config/config.ts';
import { createSpool } from '../src/uploads/spool.ts';
import { createSidecarClient } from '../src/tools/sidecar/client.ts';
import { superviseSidecar } from '../src/tools/sidecar/supervisor.ts';
import { formRequest, sidecarCommand } from '../test/support/app.ts';
import { makePicture } from '../test/support/images.ts';

const ROUNDS = 5;
const REQUESTS = 60;

const url = process.env['IQA_CHECKPOINTS_URL'];
const log = pino({ level: 'info' }, pino.destination('/dev/null'));
const supervisor = superviseSidecar(sidecarCommand(['--workers', '1']), log);
await supervisor.started;
const sidecar = createSidecarClient(supervisor.origin);
const dir = mkdtempSync(join(tmpdir(), 'iqa-bench-'));
const spool = await createSpool(dir);
const request = await formRequest({ image: await makePicture().jpeg({ quality: 90 }).toBuffer() });

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
  // In turn, so that whatever else the machine does hits all of them.
  for (const entry of apps) {
    const before = process.cpuUsage();
    for (let count = 0; count < REQUESTS; count += 1) {
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

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const round = (value: number) => Math.round(value * 100) / 100;
const base = median(apps[0]?.samples ?? []);
const result = {
  benchmark: 'checkpoints',
  date: new Date().toISOString(),
  commit: spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout.trim(),
  machine: {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    node: process.version,
    load_average: loadavg()[0],
  },
  picture: '512 × 384 JPEG, tool cache warm',
  requests: ROUNDS * REQUESTS,
  stores: Object.fromEntries(
    apps.map(({ store, samples, cpu }) => [
      store,
      {
        p50_ms: round(median(samples)),
        added_ms: round(median(samples) - base),
        ratio: round(median(samples) / base),
        cpu_ms: round(cpu / samples.length),
      },
    ]),
  ),
};
const folder = join(import.meta.dirname, 'results');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, `checkpoints-${result.date.slice(0, 10)}.json`), `${JSON.stringify(result, null, 2)}\n`);
console.log(JSON.stringify(result, null, 2));
