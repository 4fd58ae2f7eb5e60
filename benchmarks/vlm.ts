// How long an assessment takes when the model answers in 400 ms: merged and speculating, against the paper's five calls one by one.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
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
import { GLOBAL_PLAN_ANSWER, LEVELS_ANSWER, MERGED_ANSWER } from '../test/support/model-answers.ts';
import { makePicture } from '../test/support/images.ts';
import { startProviderDouble, type SeenRequest, type Step } from '../test/support/provider-double.ts';

const PROVIDER_MS = 400;
const WARM_UP = 5;
const REQUESTS = 20;
/** The model plans as the embedded planner expects ("free_form"), or it does not and all calls follow one another ("unexpected"). */
const QUESTIONS = {
  rating: 'Rate this photo.',
  free_form: 'Judging by the pixels alone, how good is this image?',
  unexpected: 'Methinks yon snapshot wants a spot of scrutiny, prithee opine',
};
/** Calls that have to wait for each other. */
const SEQUENTIAL = {
  merged: { rating: 2, free_form: 2, unexpected: 3 },
  paper: { rating: 5, free_form: 5, unexpected: 5 },
} as const;
type Name = keyof typeof QUESTIONS;

const log = pino({ level: 'silent' });
const cleanUps: (() => unknown)[] = [];
const double = await startProviderDouble({
  teardown: (work: () => unknown) => {
    cleanUps.push(work);
  },
});
double.otherwise(answer);
const supervisor = superviseSidecar(sidecarCommand(['--workers', '2']), log);
await supervisor.started;
const sidecar = createSidecarClient(supervisor.origin);
const spool = await createSpool(null);
const base = await makePicture({ seed: 1 }).raw().toBuffer({ resolveWithObject: true });
let pictures = 0;

const merged = await measure('merged', true);
const paper = await measure('paper', false);

await sidecar.close();
await supervisor.stop();
await spool.close();
for (const work of cleanUps) await work();

const result = {
  benchmark: 'vlm',
  date: new Date().toISOString(),
  commit: spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout.trim(),
  machine: {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    node: process.version,
    load: loadavg().map((load) => Math.round(load * 10) / 10),
  },
  picture: '512 × 384 JPEG',
  requests: REQUESTS,
  provider_ms: PROVIDER_MS,
  merged,
  paper_without_speculation: paper,
  times_faster: Object.fromEntries(
    (Object.keys(QUESTIONS) as Name[]).map((name) => [name, round(paper[name].p50_ms / merged[name].p50_ms)]),
  ),
};
const folder = join(import.meta.dirname, 'results');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, `vlm-${result.date.slice(0, 10)}.json`), `${JSON.stringify(result, null, 2)}\n`);
console.log(JSON.stringify(result, null, 2));
for (const [question, { p10_ms, p50_ms, limit_ms }] of Object.entries(merged)) {
  console.log(`${question}: ${p50_ms} ms, a tenth of them below ${p10_ms} ms (goal: at most ${limit_ms} ms)`);
}
for (const [question, times] of Object.entries(result.times_faster))
  console.log(`${question}: ${times} times faster than the paper's way (goal: at least 2)`);

async function measure(reasoning: 'merged' | 'paper', speculation: boolean) {
  const loaded = loadConfig({ ...double.environment('openai'), IQA_REASONING: reasoning });
  const config = { ...loaded, models: { ...loaded.models, speculation } };
  const app = await buildApp(config, { log, spool, sidecar });
  const pool = new Pool(await app.listen({ host: '127.0.0.1', port: 0 }));
  const ask = async (query: string) => {
    // A new question as well: the planner's call is text alone, and its answer would be known.
    const { payload, headers } = await formRequest({ image: await newPicture(), query: `${query} (${pictures})` });
    const started = performance.now();
    const response = await pool.request({
      method: 'POST',
      path: '/assess',
      body: payload as Buffer,
      headers: headers as Record<string, string>,
    });
    const body = (await response.body.json()) as Assessment;
    const elapsed = performance.now() - started;
    if (response.statusCode !== 200 || body.metadata.degraded) throw new Error(JSON.stringify(body));
    return { elapsed, calls: body.metadata.vlm.calls };
  };
  const figures = async (name: Name) => {
    const query = QUESTIONS[name];
    for (let index = 0; index < WARM_UP; index += 1) await ask(query);
    const samples = [];
    for (let index = 0; index < REQUESTS; index += 1) samples.push(await ask(query));
    const times = samples.map(({ elapsed }) => elapsed).toSorted((a, b) => a - b);
    const sequential = SEQUENTIAL[reasoning][name];
    return {
      calls: samples[0]?.calls ?? 0,
      sequential,
      p10_ms: round(times[Math.floor(REQUESTS * 0.1)] ?? 0),
      p50_ms: round(times[Math.floor(REQUESTS / 2)] ?? 0),
      p90_ms: round(times[Math.floor(REQUESTS * 0.9)] ?? 0),
      limit_ms: round(1.1 * sequential * PROVIDER_MS + 50),
    };
  };
  const result = {
    rating: await figures('rating'),
    free_form: await figures('free_form'),
    unexpected: await figures('unexpected'),
  };
  await pool.close();
  await app.close();
  return result;
}

/** Another corner pixel, so that no cache knows it. */
function newPicture(): Promise<Buffer> {
  pictures += 1;
  const pixels = Buffer.from(base.data);
  pixels.fill(pictures % 251, 0, 48);
  return sharp(pixels, { raw: base.info }).jpeg({ quality: 90 }).toBuffer();
}

function answer({ schema }: SeenRequest): Step {
  const fields = schema?.properties ?? {};
  const say =
    'query_type' in fields
      ? GLOBAL_PLAN_ANSWER
      : 'final_answer' in fields
        ? LEVELS_ANSWER
        : Object.fromEntries(Object.entries(MERGED_ANSWER).filter(([field]) => field in fields));
  return { say, levels: { Good: 0.7, Fair: 0.3 }, after: PROVIDER_MS };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
