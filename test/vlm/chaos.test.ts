// 500 assessments, a third of all model calls go wrong: each ends in a valid assessment or a clear problem, in time and within its budget.
import t from 'tap';
import { explain } from '../../schemas/explain.ts';
import { parse } from '../../schemas/model.ts';
import { Assessment } from '../../schemas/assessment.ts';
import { Problem } from '../../schemas/problem.ts';
import type { Config } from '../../src/config.ts';
import { buildTestApp, formRequest } from '../support/app.ts';
import { answerFromSchema } from '../support/model-answers.ts';
import { withModels } from '../support/models.ts';
import { createRandom, makePicture } from '../support/pictures.ts';
import { startProviderDouble, type Step } from '../support/provider-double.ts';

const ASSESSMENTS = 500;
const FAULT_SHARE = 0.3;
const DEADLINE_MS = 10_000;
const MAX_CALLS = 12;
/** What the machine itself may add when all of its processors are busy. */
const GRACE_MS = 3_000;

const FAULTS: Step[] = [
  { fail: 401 }, { fail: 400 }, { fail: 429, headers: { 'retry-after-ms': '30' } }, { fail: 429, headers: { 'retry-after': '3600' } }, { fail: 500 }, { fail: 503 },
  { misbehave: 'hang_up' }, { misbehave: 'never' }, { misbehave: 'slow_bytes' }, { raw: '<html>', contentType: 'text/html' }, { raw: '{', contentType: 'application/json' },
  { say: 'I would rather talk about the weather.' }, { say: '{"final_answer": "Go' }, { say: { final_answer: 'Splendid', query_type: 'Odd' } },
  { speech: { text: '', finish: 'refusal' } }, { speech: { text: '', finish: 'empty' } }, { speech: { text: '{"', finish: 'length' } },
];
const QUERIES = ['Rate this photo.', 'Is it blurry?', 'Which flaw is worst? A. Noise B. Blur', 'What emotion does it evoke?', 'Tell me what went wrong when my uncle took this with his gadget', 'Is the ball sharp?'];
const BACKENDS = ['openai.gpt-4o', 'anthropic.claude-3.5-sonnet', 'google.gemini-3.5-flash-lite'];

t.test('chaos', async (t) => {
  const random = createRandom(7);
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, { environment: double.environment('openai', 'anthropic', 'google'), adjust: chaotic, quiet: true });
  const image = await makePicture({ width: 200, height: 200 }).jpeg({ quality: 80 }).toBuffer();
  double.otherwise((request) => (random() < FAULT_SHARE ? pick(FAULTS, random) : answerFromSchema(request)));
  const outcomes = new Map<string, number>();
  const count = (what: string) => outcomes.set(what, (outcomes.get(what) ?? 0) + 1);
  const wrong: string[] = [];

  async function assess(index: number): Promise<void> {
    const before = performance.now();
    // A number makes each question new, so that identical ones do not share a run.
    const request = await formRequest({ image, query: `${pick(QUERIES, random)} (${index})`, backend: pick(BACKENDS, random) });
    const response = await app.inject(request);
    const elapsed = performance.now() - before;
    if (elapsed > DEADLINE_MS + GRACE_MS) wrong.push(`${index} took ${Math.round(elapsed)} ms`);
    if (response.statusCode === 200) {
      const { metadata } = parse(Assessment, response.json());
      if (metadata.vlm.calls > MAX_CALLS) wrong.push(`${index} made ${metadata.vlm.calls} calls`);
      if (metadata.degraded !== (metadata.degraded_reason !== null)) wrong.push(`${index} is degraded without a reason`);
      count(metadata.degraded ? 'degraded' : 'whole');
    } else {
      const problem = response.json<Problem>();
      wrong.push(...explain(Problem, problem).map((found) => found.message));
      if (!problem.code.startsWith('IQA_MODEL_') && problem.code !== 'IQA_DEADLINE') wrong.push(`${index} ended with ${problem.code}: ${problem.detail}`);
      count(problem.code);
    }
  }

  let next = 0;
  const worker = async () => { while (next < ASSESSMENTS) await assess(next++); };
  await Promise.all(Array.from({ length: 16 }, worker));
  t.same(wrong, []);
  t.equal([...outcomes.values()].reduce((sum, times) => sum + times, 0), ASSESSMENTS);
  t.ok((outcomes.get('whole') ?? 0) > 0 && (outcomes.get('degraded') ?? 0) > 0, JSON.stringify(Object.fromEntries(outcomes)));
  t.comment(JSON.stringify(Object.fromEntries(outcomes)), `${double.seen.length} calls`);
});

/** Short waits, no cache, a breaker that closes again at once, and one role whose failure is a problem. */
function chaotic(config: Config): Config {
  const adjusted = withModels({
    cache: { entries: 0 }, backoff: { first: 2, longest: 8 }, breaker: { failures: 12, pause: 20 }, limits: { max_calls: MAX_CALLS, max_cost_usd: null },
  }, { timeout: 1_000 })(config);
  const summarizer = { ...adjusted.models.summarizer, degrade: 'none' as const };
  return {
    ...adjusted, models: { ...adjusted.models, summarizer },
    pipeline: { ...config.pipeline, timeouts_ms: { ...config.pipeline.timeouts_ms, request: DEADLINE_MS } },
  };
}

const pick = <T>(items: readonly T[], random: () => number): T => items[Math.floor(random() * items.length)]!;
