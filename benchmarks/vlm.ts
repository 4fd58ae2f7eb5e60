// Measures an assessment with a model that answers in 400 ms: merged calls with speculation against the paper's five sequential calls.
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
import { GLOBAL_PLAN_ANSWER, LEVELS_ANSWER, MERGED_ANSWER } from '../test/support/providers/model-answers.ts';
import { makeImage } from '../test/support/images/images.ts';
import { startProviderDouble, type SeenRequest, type Step } from '../test/support/providers/provider-double.ts';
import { pickQuantile, roundTo2, saveResult } from './save-result.ts';

const PROVIDER_MS = 400;
const WARM_UP_REQUESTS = 5;
const REQUESTS = 20;
/** "free_form": the model returns the plan of the embedded planner. "unexpected": it does not, and all calls are sequential. */
const QUESTIONS = {
  rating: 'Rate this photo.',
  free_form: 'Judging by the pixels alone, how good is this image?',
  unexpected: 'Methinks yon snapshot wants a spot of scrutiny, prithee opine',
};
/** The number of calls that wait for each other. */
const SEQUENTIAL_CALLS = {
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
double.otherwise(buildStep);
const supervisor = superviseSidecar(sidecarCommand(['--workers', '2']), log);
await supervisor.started;
const sidecar = createSidecarClient(supervisor.origin);
const spool = await createSpool(null);
const base = await makeImage({ seed: 1 }).raw().toBuffer({ resolveWithObject: true });
let imageCount = 0;

const merged = await measure('merged', true);
const paper = await measure('paper', false);

await sidecar.close();
await supervisor.stop();
await spool.close();
for (const work of cleanUps) await work();

saveResult('vlm', {
  image: '512 × 384 JPEG',
  requests: REQUESTS,
  provider_ms: PROVIDER_MS,
  merged,
  paper_without_speculation: paper,
  times_faster: Object.fromEntries(
    (Object.keys(QUESTIONS) as Name[]).map((name) => [name, roundTo2(paper[name].p50_ms / merged[name].p50_ms)]),
  ),
});

async function measure(reasoning: 'merged' | 'paper', speculation: boolean) {
  const loaded = loadConfig({ ...double.environment('openai'), IQA_REASONING: reasoning });
  const config = { ...loaded, models: { ...loaded.models, speculation } };
  const app = await buildApp(config, { log, spool, sidecar });
  const pool = new Pool(await app.listen({ host: '127.0.0.1', port: 0 }));
  const ask = async (query: string) => {
    // The question differs too: the planner's call is text only, and its reply would come from the cache.
    const { payload, headers } = await formRequest({
      image: await makeUniqueImage(),
      query: `${query} (${imageCount})`,
    });
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
  const measureQuestion = async (name: Name) => {
    const query = QUESTIONS[name];
    for (let index = 0; index < WARM_UP_REQUESTS; index += 1) await ask(query);
    const samples = [];
    for (let index = 0; index < REQUESTS; index += 1) samples.push(await ask(query));
    const times = samples.map(({ elapsed }) => elapsed);
    const sequential = SEQUENTIAL_CALLS[reasoning][name];
    return {
      calls: samples[0]?.calls ?? 0,
      sequential,
      p10_ms: pickQuantile(times, 0.1),
      p50_ms: pickQuantile(times, 0.5),
      p90_ms: pickQuantile(times, 0.9),
      limit_ms: roundTo2(1.1 * sequential * PROVIDER_MS + 50),
    };
  };
  const result = {
    rating: await measureQuestion('rating'),
    free_form: await measureQuestion('free_form'),
    unexpected: await measureQuestion('unexpected'),
  };
  await pool.close();
  await app.close();
  return result;
}

/** Changes pixels of a corner, so that no cache can answer. */
function makeUniqueImage(): Promise<Buffer> {
  imageCount += 1;
  const pixels = Buffer.from(base.data);
  pixels.fill(imageCount % 251, 0, 48);
  return sharp(pixels, { raw: base.info }).jpeg({ quality: 90 }).toBuffer();
}

function buildStep({ schema }: SeenRequest): Step {
  const fields = schema?.properties ?? {};
  const say =
    'query_type' in fields
      ? GLOBAL_PLAN_ANSWER
      : 'final_answer' in fields
        ? LEVELS_ANSWER
        : Object.fromEntries(Object.entries(MERGED_ANSWER).filter(([field]) => field in fields));
  return { say, levels: { Good: 0.7, Fair: 0.3 }, after: PROVIDER_MS };
}
