// POST /assess with the executor's call beside the planner's: used where the plan is the likely one, dropped where it is not, never beyond the budget.
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import type { ModelBackends } from '../../../src/vlm/config-file.ts';
import { buildTestApp, formRequest } from '../../support/app.ts';
import { GLOBAL_PLAN_ANSWER, LEVELS_ANSWER, MERGED_ANSWER } from '../../support/providers/model-answers.ts';
import { withModels } from '../../support/providers/models.ts';
import { makeImage } from '../../support/images/images.ts';
import {
  startProviderDouble,
  type ProviderDouble,
  type SeenRequest,
  type Step,
} from '../../support/providers/provider-double.ts';

const image = await makeImage({ width: 320, height: 240, seed: 5 }).jpeg({ quality: 90 }).toBuffer();
const query = 'Is the ball blurry?';
const LIKELY = {
  ...GLOBAL_PLAN_ANSWER,
  query_scope: ['ball'],
  distortion_source: 'Explicit',
  distortions: [{ object: 'ball', categories: ['Blurs'] }],
};
/** A model always plans, and the executor never waits for it, however sure the embedded planner is. */
const EAGER = { planner_certain_from: 2, executor_ahead_from: 0, cache: { entries: 0 } };

const roleOf = ({ schema }: SeenRequest): string => {
  const fields = Object.keys(schema?.properties ?? {});
  return fields.includes('query_type') ? 'planner' : fields.includes('final_answer') ? 'summarizer' : 'executor';
};

/** Answers each role; the planner's answer comes when as many calls as given have arrived, or after all patience. */
function answerByRole(double: ProviderDouble, plan: Step, arrivals: number, patienceMs = 10_000): void {
  double.otherwise(async (request) => {
    if (roleOf(request) === 'summarizer') return { say: { ...LEVELS_ANSWER, final_answer: 'A bit.' } };
    if (roleOf(request) === 'planner') {
      for (let waited = 0; double.seen.length < arrivals && waited < patienceMs; waited += 20) await delay(20);
      return plan;
    }
    const fields = Object.keys(request.schema?.properties ?? {});
    const object = request.schema?.properties?.['distortion_analysis']?.items?.properties?.['object']?.enum?.[0];
    if (object === 'Global')
      return { say: Object.fromEntries(Object.entries(MERGED_ANSWER).filter(([field]) => fields.includes(field))) };
    return {
      say: { distortion_analysis: [{ object, type: 'Blurs', severity: 'slight', explanation: 'Soft edges.' }] },
    };
  });
}

async function assess(
  t: Parameters<typeof buildTestApp>[0],
  double: ProviderDouble,
  changes: Partial<ModelBackends> = {},
): Promise<Assessment> {
  const { app } = await buildTestApp(t, {
    environment: double.environment('openai'),
    adjust: withModels({ ...EAGER, ...changes }, { retry_attempts: 1 }),
  });
  const response = await app.inject(await formRequest({ image, query }));
  t.equal(response.statusCode, 200, response.body);
  return response.json<Assessment>();
}

t.test("a plan as expected: both calls at the same time, the planner's first, three in all", async (t) => {
  const double = await startProviderDouble(t);
  answerByRole(double, { say: LIKELY }, 2);
  const body = await assess(t, double);
  t.same(double.seen.map(roleOf), ['planner', 'executor', 'summarizer']);
  t.match(body.metadata, {
    degraded: false,
    vlm: {
      calls: 3,
      roles: { planner: { calls: 1 }, executor: { calls: 1, input_tokens: 900 }, summarizer: { calls: 1 } },
      failed_attempts: [],
    },
  });
  t.match(body.executor_evidence?.distortion_analysis, {
    Global: [{ type: 'Blurs', severity: 'slight', explanation: 'Soft edges.' }],
  });
});

t.test('another plan: the early call is dropped, counted, and its answer never used', async (t) => {
  const double = await startProviderDouble(t);
  answerByRole(double, { say: GLOBAL_PLAN_ANSWER }, 2);
  const body = await assess(t, double);
  t.same(double.seen.map(roleOf), ['planner', 'executor', 'executor', 'summarizer']);
  t.match(body.metadata, { degraded: false, vlm: { calls: 4, roles: { executor: { calls: 2 } } } });
  t.match(body.plan, { query_scope: 'Global', distortion_source: 'Inferred' });
  t.match(body.executor_evidence, {
    distortion_set: { Global: ['Noise'] },
    quality_scores: { Global: { Noise: ['NIQE', Number] } },
  });
});

t.test('a question that is not about quality drops it too', async (t) => {
  const double = await startProviderDouble(t);
  answerByRole(double, { say: { ...GLOBAL_PLAN_ANSWER, query_type: 'Other' } }, 2);
  const body = await assess(t, double);
  t.same(double.seen.map(roleOf), ['planner', 'executor', 'summarizer']);
  t.equal(body.executor_evidence?.distortion_analysis, null);
});

t.test('a planner that fails: the embedded plan is the one that was expected', async (t) => {
  const double = await startProviderDouble(t);
  answerByRole(double, { fail: 401 }, 2);
  const body = await assess(t, double);
  t.same(double.seen.map(roleOf), ['planner', 'executor', 'summarizer']);
  t.match(body.metadata, {
    degraded: true,
    degraded_reason: /^planner: the embedded reasoner answered/,
    vlm: { calls: 3 },
  });
});

t.test('an early call that fails is not repeated for nothing: its own attempts were made', async (t) => {
  const double = await startProviderDouble(t);
  const answered = () => double.seen.filter((request) => roleOf(request) === 'executor').length;
  double.otherwise(async (request) => {
    if (roleOf(request) === 'executor') return { fail: 500 };
    if (roleOf(request) === 'planner')
      for (let waited = 0; answered() === 0 && waited < 10_000; waited += 20) await delay(20);
    return { say: roleOf(request) === 'planner' ? LIKELY : { ...LEVELS_ANSWER, final_answer: 'A bit.' } };
  });
  const body = await assess(t, double);
  t.equal(answered(), 1);
  t.match(body.metadata, {
    degraded: true,
    degraded_reason: /^executor: the embedded reasoner answered/,
    vlm: { failed_attempts: [{ role: 'executor', attempt: 1 }] },
  });
});

t.test('not where it is switched off, and not where the budget has no room to spare', async (t) => {
  const cases: [string, Partial<ModelBackends>][] = [
    ['threshold', { executor_ahead_from: 2 }],
    ['speculation', { speculation: false }],
    ['calls', { limits: { max_calls: 5, max_cost_usd: null } }],
    ['cost', { limits: { max_calls: 12, max_cost_usd: 0.12 } }],
    ['paper', { reasoning: 'paper' }],
  ];
  for (const [title, changes] of cases) {
    await t.test(title, async (t) => {
      const double = await startProviderDouble(t);
      answerByRole(double, { say: LIKELY }, 2, 300);
      const body = await assess(t, double, changes);
      t.match(body.metadata, { degraded: false, vlm: { calls: 3, roles: { executor: { calls: 1 } } } });
      t.same(double.seen.map(roleOf), ['planner', 'executor', 'summarizer']);
    });
  }
});
