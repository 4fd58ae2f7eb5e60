// Measures how much the service adds to the sidecar's own time: p50 over warm requests for a 512 × 384 JPEG, caches off.
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
import { makeImage } from '../test/support/images/images.ts';
import { pickQuantile, saveResult } from './save-result.ts';

const WARM_UP_REQUESTS = 400;
const REQUESTS = 300;
const GOAL_MS = 9;

const log = pino({ level: 'info' }, pino.destination('/dev/null'));
const supervisor = superviseSidecar(sidecarCommand(['--workers', '2']), log);
await supervisor.started;
const spool = await createSpool(null);
const sidecar = createSidecarClient(supervisor.origin);
const app = await buildApp(loadConfig({}), { log, spool, sidecar });
const address = await app.listen({ host: '127.0.0.1', port: 0 });
const pool = new Pool(address);

/** Sends a different image each time, so that no cache can answer. */
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
  if (body.metadata.cache.hits > 0) throw new Error('Expected no cache hit');
  return { total, sidecar: body.metadata.timings_ms['sidecar'] ?? 0 };
}

const images = await Promise.all(
  Array.from({ length: 8 }, (_, seed) =>
    makeImage({ seed: seed + 1 })
      .raw()
      .toBuffer(),
  ),
);

/** Changes pixels of a corner, since metadata is stripped before the cache key is computed. */
async function makeUnique(seed: number): Promise<Buffer> {
  const pixels = Buffer.from(images[seed % images.length] ?? Buffer.alloc(0));
  pixels.fill(seed % 256, 0, 48);
  pixels.fill(Math.floor(seed / 256), 48, 96);
  return sharp(pixels, { raw: { width: 512, height: 384, channels: 3 } })
    .jpeg({ quality: 90 })
    .toBuffer();
}

for (let seed = 0; seed < WARM_UP_REQUESTS; seed += 1) await ask(seed);
const samples = [];
for (let seed = WARM_UP_REQUESTS; seed < WARM_UP_REQUESTS + REQUESTS; seed += 1) samples.push(await ask(seed));
await pool.close();
await app.close();
await sidecar.close();
await supervisor.stop();
await spool.close();

const overheads = samples.map(({ total, sidecar: own }) => total - own);
const totals = samples.map(({ total }) => total);
const sidecarTimes = samples.map(({ sidecar: own }) => own);
saveResult('overhead', {
  requests: REQUESTS,
  image: '512 × 384 JPEG',
  goal_ms: GOAL_MS,
  overhead_ms: {
    p50: pickQuantile(overheads, 0.5),
    p90: pickQuantile(overheads, 0.9),
    p99: pickQuantile(overheads, 0.99),
  },
  total_ms: { p50: pickQuantile(totals, 0.5) },
  sidecar_ms: { p50: pickQuantile(sidecarTimes, 0.5) },
});
