// 500 assessments, a third of all model calls go wrong: each ends in a valid assessment or a clear problem, in time and within its budget.
import { createHash } from 'node:crypto';
import t from 'tap';
import { explain } from '../../schemas/validation/explain.ts';
import { parse } from '../../schemas/validation/model.ts';
import { Assessment } from '../../schemas/responses/assessment.ts';
import { Problem } from '../../schemas/responses/problem.ts';
import type { Config } from '../../src/config/config.ts';
import { buildTestApp, formRequest } from '../support/app.ts';
import { answerFromSchema } from '../support/providers/model-answers.ts';
import { withModels } from '../support/providers/models.ts';
import { createRandom, makeImage } from '../support/images/images.ts';
import { startProviderDouble, type Step } from '../support/providers/provider-double.ts';

const ASSESSMENTS = 500;
const FAULT_SHARE = 0.3;
const DEADLINE_MS = 20_000;
const MAX_CALLS = 12;
const MAX_COST_USD = 1;
/** Three attempts and a fallback stand between a fault in three calls and a problem. */
const LEAST_ANSWERED = 0.9;
/** What the machine itself may add when all of its processors are busy. */
const GRACE_MS = 5_000;

const FAULTS: Step[] = [
  { fail: 401 },
  { fail: 400 },
  { fail: 429, headers: { 'retry-after-ms': '30' } },
  { fail: 429, headers: { 'retry-after': '3600' } },
  { fail: 500 },
  { fail: 503 },
  { misbehave: 'hang_up' },
  { misbehave: 'never' },
  { misbehave: 'slow_bytes' },
  { raw: '<html>', contentType: 'text/html' },
  { raw: '{', contentType: 'application/json' },
  { say: 'I would rather talk about the weather.' },
  { say: '{"final_answer": "Go' },
  { say: { final_answer: 'Splendid', query_type: 'Odd' } },
  { speech: { text: '', finish: 'refusal' } },
  { speech: { text: '', finish: 'empty' } },
  { speech: { text: '{"', finish: 'length' } },
];
const QUERIES = [
  'Rate this photo.',
  'Is it blurry?',
  'Which flaw is worst? A. Noise B. Blur',
  'What emotion does it evoke?',
  'Tell me what went wrong when my uncle took this with his gadget',
  'Is the ball sharp?',
];
const BACKENDS = {
  openai: 'openai.gpt-4o',
  anthropic: 'anthropic.claude-3.5-sonnet',
  google: 'google.gemini-3.5-flash-lite',
} as const;
/** While these assessments run, every call to this provider fails: long enough for its circuit breaker. */
const OUTAGE = { wire: 'google', from: 200, to: 260 } as const;

/** The same question meets the same faults in every run, however the runs overlap. */
const chanceOf = (...what: (string | number)[]): (() => number) =>
  createRandom(
    createHash('sha256')
      .update(`seed 7 ${what.join(' ')}`)
      .digest()
      .readUInt32BE(),
  );

t.test('chaos', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, {
    environment: double.environment('openai', 'anthropic', 'google'),
    adjust: chaotic,
    quiet: true,
  });
  const image = await makeImage({ width: 200, height: 200 }).jpeg({ quality: 80 }).toBuffer();
  const calls = new Map<string, number>();
  let asked = 0;
  let faults = 0;
  const countCall = (key: string): number => {
    calls.set(key, (calls.get(key) ?? 0) + 1);
    return calls.get(key) ?? 0;
  };
  double.otherwise((request) => {
    const index = Number(/\((\d+)\)/.exec(request.turns[0]?.text ?? '')?.[1]);
    countCall(`${index}`);
    const task = Object.keys(request.schema?.properties ?? {})[0] ?? '';
    const chance = chanceOf(index, request.wire, task, countCall(`${index} ${request.wire} ${task}`));
    if (request.wire === OUTAGE.wire && index >= OUTAGE.from && index < OUTAGE.to) return { fail: 503 };
    asked += 1;
    if (chance() >= FAULT_SHARE) return answerFromSchema(request);
    faults += 1;
    return pick(FAULTS, chance);
  });
  const outcomes = new Map<string, number>();
  const count = (what: string) => outcomes.set(what, (outcomes.get(what) ?? 0) + 1);
  const times = (...what: string[]) => what.reduce((sum, name) => sum + (outcomes.get(name) ?? 0), 0);
  const wrong: string[] = [];

  async function assess(index: number): Promise<void> {
    const before = performance.now();
    const chance = chanceOf(index);
    const wire = pick(Object.keys(BACKENDS) as (keyof typeof BACKENDS)[], chance);
    // A number makes each question new, so that identical ones do not share a run.
    const request = await formRequest({ image, query: `${pick(QUERIES, chance)} (${index})`, backend: BACKENDS[wire] });
    const response = await app.inject(request);
    const elapsed = performance.now() - before;
    if (elapsed > DEADLINE_MS + GRACE_MS) wrong.push(`${index} took ${Math.round(elapsed)} ms`);
    if ((calls.get(`${index}`) ?? 0) > MAX_CALLS) wrong.push(`${index} asked ${calls.get(`${index}`) ?? 0} times`);
    if (response.statusCode === 200) {
      const { metadata } = parse(Assessment, response.json());
      wrong.push(
        ...complaintsAbout(metadata, BACKENDS[wire], calls.get(`${index}`) ?? 0).map(
          (complaint) => `${index} ${complaint}`,
        ),
      );
      if (metadata.vlm.failed_attempts.some(({ message }) => message.includes('paused for a while')))
        count('met an open breaker');
      if (wire === OUTAGE.wire && index >= OUTAGE.to && !metadata.degraded)
        count('answered by the provider that had been out');
      count(metadata.degraded ? 'degraded' : 'whole');
    } else {
      const problem = response.json<Problem>();
      wrong.push(...explain(Problem, problem).map((found) => found.message));
      if (!problem.code.startsWith('IQA_MODEL_') && problem.code !== 'IQA_DEADLINE')
        wrong.push(`${index} ended with ${problem.code}: ${problem.detail}`);
      count(problem.code);
    }
  }

  let next = 0;
  const worker = async () => {
    while (next < ASSESSMENTS) await assess(next++);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  const told = JSON.stringify(Object.fromEntries(outcomes));
  t.same(wrong, []);
  const late = times('IQA_MODEL_TIMEOUT', 'IQA_DEADLINE');
  t.equal(times('whole', 'degraded', 'IQA_MODEL_FAILED') + late, ASSESSMENTS, told);
  // The summarizer may not be replaced, so that some end as problems; of a machine that is too busy to be in time nothing follows.
  t.ok(late < ASSESSMENTS / 4, `few are late: ${told}`);
  t.ok(times('whole', 'degraded') >= LEAST_ANSWERED * (ASSESSMENTS - late), `nearly all are answered: ${told}`);
  t.ok(
    times('whole') >= (ASSESSMENTS - late) / 3 && times('degraded') >= 10,
    `most faults cost nothing but time: ${told}`,
  );
  t.ok(Math.abs(faults / asked - FAULT_SHARE) < 0.05, `beside the outage ${faults} of ${asked} calls went wrong`);
  t.ok(times('met an open breaker') > 0, 'the breaker of the provider that was out opened');
  t.ok(times('answered by the provider that had been out') > 10, 'and closed again');
  t.comment(told, `${double.seen.length} calls`);
});

/** What an answer says of itself, against what the provider saw. */
function complaintsAbout(
  { degraded, degraded_reason, reasoner, vlm }: Assessment['metadata'],
  backend: string,
  calls: number,
): string[] {
  // An executor's call that was begun ahead of the plan may have asked a fallback and then not been used.
  const others = vlm.failed_attempts.filter((attempt) => attempt.backend !== backend && attempt.role !== 'executor');
  const rules: [boolean, string][] = [
    [vlm.calls > MAX_CALLS, `made ${vlm.calls} calls`],
    [calls > vlm.calls, `counted ${vlm.calls} of ${calls} calls`],
    [vlm.cost_usd > MAX_COST_USD, `cost ${vlm.cost_usd} USD`],
    [degraded !== (degraded_reason !== null), 'is degraded without a reason, or the other way round'],
    [
      degraded && !/(planner|executor|summarizer): \S+ |failed/.test(degraded_reason ?? ''),
      `does not say what is degraded: ${degraded_reason ?? ''}`,
    ],
    [degraded && vlm.failed_attempts.length === 0, 'is degraded though nothing failed'],
    [!degraded && others.length > 0, 'asked a fallback and does not say so'],
    [
      !degraded && (reasoner.kind !== 'vlm' || reasoner.backend !== backend),
      `was answered by ${reasoner.backend} and does not say so`,
    ],
    [
      !degraded &&
        vlm.calls > 0 &&
        vlm.calls <= vlm.failed_attempts.filter(({ message }) => !message.includes('paused for a while')).length,
      'is whole though every call failed',
    ],
  ];
  return rules.flatMap(([isBroken, complaint]) => (isBroken ? [complaint] : []));
}

/** Short waits, no cache, a breaker that soon allows another try, and one role whose failure is a problem. */
function chaotic(config: Config): Config {
  const adjusted = withModels(
    {
      cache: { entries: 0 },
      backoff: { first: 2, longest: 8 },
      breaker: { failures: 12, pause: 20 },
      limits: { max_calls: MAX_CALLS, max_cost_usd: MAX_COST_USD },
    },
    { timeout: 2_000 },
  )(config);
  const summarizer = { ...adjusted.models.summarizer, degrade: 'none' as const };
  return {
    ...adjusted,
    models: { ...adjusted.models, summarizer },
    pipeline: { ...config.pipeline, timeouts_ms: { ...config.pipeline.timeouts_ms, request: DEADLINE_MS } },
  };
}

const pick = <T>(items: readonly T[], random: () => number): T => items[Math.floor(random() * items.length)]!;
