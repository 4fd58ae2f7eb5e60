// How much the service adds to the sidecar's own time: p50 over warm requests for a 512 × 384 JPEG, caches off.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import sharp from 'sharp';
import { Pool } from 'undici';
import type { Assessment } from '../schemas/responses/assessment.ts';
import { buildApp } from '../src/app.ts';
import { loadConfig } from '../src/config/config.ts';
import { createSpool } from '../src/uploads/spool.ts';
import { createSidecarClient } from '../src/tools/sidecar/client.ts';
import { superviseSidecar } from '../src/tools/sidecar/supervisor.ts';
import { formRequest, sidecarCommand } from '../test/support/app.ts';
import { makePicture } from '../test/support/images.ts';

const WARM_UP = 400;
const REQUESTS = 300;
const GOAL_MS = 10;

const log = pino({ level: 'info' }, pino.destination('/dev/null'));
const supervisor = superviseSidecar(sidecarCommand(['--workers', '2']), log);
await supervisor.started;
const spool = await createSpool(null);
const sidecar = createSidecarClient(supervisor.origin);
const app = await buildApp(loadConfig({}), { log, spool, sidecar });
const address = await app.listen({ host: '127.0.0.1', port: 0 });
const pool = new Pool(address);

/** Each request carries another picture, so that no cache can help. */
async function ask(seed: number): Promise<{ total: number; sidecar: number }> {
  const image = await makeUnique(seed);
  const { payload, headers } = await formRequest({ image });
  const started = performance.now();
  const response = await pool.request({
    method: 'POST',
    path: '/assess',
    body: payload as Buffer,
    headers: headers as Record<string, string>,
  });
  const body = (await response.body.json()) as Assessment;
  const total = performance.now() - started;
  if (response.statusCode !== 200) throw new Error(JSON.stringify(body));
  if (body.metadata.cache.hits > 0) throw new Error('A cache answered');
  return { total, sidecar: body.metadata.timings_ms['sidecar'] ?? 0 };
}

const pictures = await Promise.all(
  Array.from({ length: 8 }, (_, seed) =>
    makePicture({ seed: seed + 1 })
      .raw()
      .toBuffer(),
  ),
);

/** A corner of its own shade: metadata would not do, since only the picture travels on. */
async function makeUnique(seed: number): Promise<Buffer> {
  const pixels = Buffer.from(pictures[seed % pictures.length] ?? Buffer.alloc(0));
  pixels.fill(seed % 256, 0, 48);
  pixels.fill(Math.floor(seed / 256), 48, 96);
  return sharp(pixels, { raw: { width: 512, height: 384, channels: 3 } })
    .jpeg({ quality: 90 })
    .toBuffer();
}

for (let seed = 0; seed < WARM_UP; seed += 1) await ask(seed);
const samples = [];
for (let seed = WARM_UP; seed < WARM_UP + REQUESTS; seed += 1) samples.push(await ask(seed));
await pool.close();
await app.close();
await sidecar.close();
await supervisor.stop();
await spool.close();

const overheads = samples.map(({ total, sidecar: own }) => total - own);
const result = {
  benchmark: 'overhead',
  date: new Date().toISOString(),
  commit: spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout.trim(),
  machine: { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version },
  requests: REQUESTS,
  picture: '512 × 384 JPEG',
  goal_ms: GOAL_MS,
  overhead_ms: { p50: quantile(overheads, 0.5), p90: quantile(overheads, 0.9), p99: quantile(overheads, 0.99) },
  total_ms: {
    p50: quantile(
      samples.map((sample) => sample.total),
      0.5,
    ),
  },
  sidecar_ms: {
    p50: quantile(
      samples.map((sample) => sample.sidecar),
      0.5,
    ),
  },
};
const folder = join(import.meta.dirname, 'results');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, `overhead-${result.date.slice(0, 10)}.json`), `${JSON.stringify(result, null, 2)}\n`);
console.log(JSON.stringify(result, null, 2));
console.log(
  `overhead p50 ${result.overhead_ms.p50} ms (goal: at most ${GOAL_MS} ms), ${(result.overhead_ms.p50 / result.sidecar_ms.p50).toFixed(2)} of the sidecar's own time`,
);

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0) * 100) / 100;
}
