// POST /assess when models fail: fallback, degradation, problems; what the tools' absence means; and that no key ever leaves.
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import type { Problem } from '../../../schemas/responses/problem.ts';
import { buildTestApp, formRequest } from '../../support/app.ts';
import { GLOBAL_PLAN_ANSWER, LEVELS_ANSWER, MERGED_ANSWER } from '../../support/providers/model-answers.ts';
import { withModels } from '../../support/providers/models.ts';
import { makeImage } from '../../support/images/images.ts';
import { KEYS, startProviderDouble, type Step } from '../../support/providers/provider-double.ts';

const image = await makeImage({ width: 320, height: 240, seed: 3 }).jpeg({ quality: 90 }).toBuffer();
const FREE_FORM = 'Methinks yon snapshot wants a spot of scrutiny, prithee opine';

t.test('a fallback that answers is told, with who spoke in the end', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, {
    environment: double.environment('openai', 'anthropic'),
    adjust: withModels(),
  });
  double.play({ fail: 401 }, { say: MERGED_ANSWER }, { fail: 401 }, { say: LEVELS_ANSWER });
  const body = (await app.inject(await formRequest({ image, query: 'Rate this photo.' }))).json<Assessment>();
  t.match(body.metadata, {
    degraded: true,
    degraded_reason:
      /executor: anthropic\.claude-3\.5-sonnet answered in place of openai\.gpt-4o; summarizer: anthropic/,
    reasoner: { kind: 'vlm', backend: 'anthropic.claude-3.5-sonnet', model: 'claude-sonnet-5-5' },
    vlm: {
      calls: 4,
      failed_attempts: [
        { role: 'executor', backend: 'openai.gpt-4o', error_type: 'api_error' },
        { role: 'summarizer' },
      ],
    },
  });
});

t.test('a fallback without key is skipped; then the embedded reasoner answers and says why', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, {
    environment: double.environment('openai'),
    adjust: withModels({}, { retry_attempts: 1 }),
  });
  double.play({ fail: 500 }, { fail: 500 }, { fail: 500 });
  const response = await app.inject(await formRequest({ image, query: FREE_FORM }));
  t.equal(response.statusCode, 200, response.body);
  const body = response.json<Assessment>();
  t.match(body.metadata, {
    degraded: true,
    reasoner: { kind: 'embedded', backend: 'embedded', model: null },
    degraded_reason:
      /planner: the embedded reasoner answered because openai\.gpt-4o gave no valid answer \(The provider answered 500\); executor: .*; summarizer: /,
  });
  t.ok(body.executor_evidence?.distortion_analysis, 'from measurements');
  t.equal(response.headers['etag'], undefined, 'a degraded answer is not the one to keep');
});

t.test('one role may fail alone', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, {
    environment: double.environment('openai'),
    adjust: withModels({}, { retry_attempts: 2 }),
  });
  double.play(
    { say: 'I see a lovely picture.' },
    { say: { distortion_set: [] } },
    { say: LEVELS_ANSWER, levels: { Good: 1 } },
  );
  const body = (await app.inject(await formRequest({ image, query: 'Rate this photo.' }))).json<Assessment>();
  t.match(body.metadata, {
    degraded: true,
    degraded_reason: /^executor: the embedded reasoner answered/,
    reasoner: { kind: 'vlm' },
    vlm: { calls: 3 },
  });
  t.ok(body.executor_evidence?.distortion_analysis);
});

t.test('degrade: none makes a problem of it, whichever role failed: 502', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, {
    environment: double.environment('openai'),
    adjust: withModels({}, { retry_attempts: 1, degrade: 'none' }),
  });
  const because = 'openai.gpt-4o gave no valid answer (The provider answered 500)';
  double.play({ fail: 500 });
  const planner = await app.inject(await formRequest({ image, query: FREE_FORM }));
  t.match(planner.json<Problem>(), { status: 502, code: 'IQA_MODEL_FAILED', detail: `The planner failed: ${because}` });
  double.play({ fail: 500 });
  const executor = await app.inject(await formRequest({ image, query: 'Rate this photo.' }));
  t.match(executor.json<Problem>(), {
    status: 502,
    code: 'IQA_MODEL_FAILED',
    detail: `The executor failed: ${because}`,
  });
  t.equal(double.seen.length, 2, 'the summarizer was not asked');
  double.play({ say: MERGED_ANSWER }, { fail: 500 });
  const summarizer = await app.inject(await formRequest({ image, query: 'Rate this photo.' }));
  t.match(summarizer.json<Problem>(), { status: 502, detail: `The summarizer failed: ${because}` });
});

t.test('degrade: none and no answer in time: 504', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, {
    environment: double.environment('openai'),
    adjust: withModels({}, { retry_attempts: 1, degrade: 'none', timeout: 150 }),
  });
  double.otherwise({ misbehave: 'never' });
  const planner = await app.inject(await formRequest({ image, query: FREE_FORM }));
  t.match(planner.json<Problem>(), { status: 504, code: 'IQA_MODEL_TIMEOUT', detail: /^The planner failed/ });
  const executor = await app.inject(await formRequest({ image, query: 'Rate this photo.' }));
  t.match(executor.json<Problem>(), { status: 504, code: 'IQA_MODEL_TIMEOUT', detail: /^The executor failed/ });
});

// Scenario: replanning-logic / Executor fails on replan
t.test(
  'degrade: none in the executor on a replan: the summarizer receives the error in the evidence and answers',
  async (t) => {
    const double = await startProviderDouble(t);
    const { app } = await buildTestApp(t, {
      environment: double.environment('openai'),
      adjust: withModels({ cache: { entries: 0 } }, { retry_attempts: 1, degrade: 'none' }),
    });
    const replan = { ...LEVELS_ANSWER, final_answer: 'Hm.', need_replan: true, replan_reason: 'Missing severities' };
    double.play(
      { say: GLOBAL_PLAN_ANSWER },
      { say: MERGED_ANSWER },
      { say: replan },
      { say: GLOBAL_PLAN_ANSWER },
      { fail: 500 },
      { say: { ...LEVELS_ANSWER, final_answer: 'Noise, I think.' } },
    );
    const response = await app.inject(await formRequest({ image, query: FREE_FORM }));
    t.equal(response.statusCode, 200, response.body);
    const body = response.json<Assessment>();
    t.match(body.executor_evidence, {
      distortion_set: null,
      quality_scores: null,
      tool_logs: [{ tool_name: 'executor', error: /The provider answered 500/ }],
    });
    t.match(body, {
      error: null,
      summarizer_result: { final_answer: 'Noise, I think.' },
      metadata: { degraded: true, degraded_reason: /executor failed/ },
    });
    t.ok(body.iteration_count <= 2, 'the limit ends it');
  },
);

t.test('degrade: none in the summarizer on a replan: 200, the error told, the last good result kept', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, {
    environment: double.environment('openai'),
    adjust: withModels({ cache: { entries: 0 } }, { retry_attempts: 1, degrade: 'none' }),
  });
  const replan = { ...LEVELS_ANSWER, final_answer: 'Hm.', need_replan: true, replan_reason: 'Missing severities' };
  double.play(
    { say: GLOBAL_PLAN_ANSWER },
    { say: MERGED_ANSWER },
    { say: replan },
    { say: GLOBAL_PLAN_ANSWER },
    { say: MERGED_ANSWER },
    { fail: 401 },
  );
  const response = await app.inject(await formRequest({ image, query: FREE_FORM }));
  t.equal(response.statusCode, 200, response.body);
  t.match(response.json<Assessment>(), {
    error: /^The summarizer failed: openai/,
    summarizer_result: { final_answer: 'Hm.', need_replan: true },
    metadata: { degraded: true },
  });
});

t.test('a planner that fails on a replan: 200, the error told, the last good result kept', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, {
    environment: double.environment('openai'),
    adjust: withModels({}, { retry_attempts: 1, degrade: 'none' }),
  });
  double.play(
    { say: GLOBAL_PLAN_ANSWER },
    { say: MERGED_ANSWER },
    {
      say: {
        ...LEVELS_ANSWER,
        final_answer: 'Hm.',
        need_replan: true,
        replan_reason: 'Missing tool scores for the sky',
      },
    },
    { fail: 500 },
  );
  const response = await app.inject(await formRequest({ image, query: FREE_FORM }));
  t.equal(response.statusCode, 200, response.body);
  t.match(response.json<Assessment>(), {
    error: /^The planner failed: openai/,
    summarizer_result: { final_answer: 'Hm.', need_replan: true },
    iteration_count: 1,
    replan_history: ['[Iteration 1] Missing tool scores for the sky'],
    metadata: { degraded: true },
  });
});

t.test("the replan's reason reaches the planner's model", async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, {
    environment: double.environment('openai'),
    adjust: withModels({ cache: { entries: 0 } }),
  });
  double.play(
    { say: GLOBAL_PLAN_ANSWER },
    { say: MERGED_ANSWER },
    { say: { ...LEVELS_ANSWER, need_replan: true, replan_reason: 'Missing severities' } },
  );
  double.play(
    { say: GLOBAL_PLAN_ANSWER },
    { say: MERGED_ANSWER },
    { say: { ...LEVELS_ANSWER, final_answer: 'Done.' } },
  );
  const body = (await app.inject(await formRequest({ image, query: FREE_FORM }))).json<Assessment>();
  t.match(double.seen[3]?.turns[0]?.text, /"reason": "Missing severities"/);
  t.match(body, {
    iteration_count: 1,
    summarizer_result: { final_answer: 'Done.', need_replan: false },
    metadata: { vlm: { calls: 6 } },
  });
});

t.test(
  "what is missing reaches the executor's model, which is asked again although answers are cached, and the gap is closed",
  async (t) => {
    const double = await startProviderDouble(t);
    const { app } = await buildTestApp(t, { environment: double.environment('openai'), adjust: withModels() });
    const { distortion_analysis, selected_tools } = MERGED_ANSWER;
    const both = {
      distortion_analysis: [
        ...distortion_analysis,
        { object: 'Global', type: 'Blurs', severity: 'none', explanation: 'Edges are crisp.', confidence: 0.9 },
      ],
      selected_tools: [...selected_tools, { object: 'Global', distortion: 'Blurs', tool: 'NIQE' }],
    };
    const answer = { ...LEVELS_ANSWER, final_answer: 'A' };
    double.play({ say: { distortion_analysis, selected_tools } }, { say: answer }, { say: both }, { say: answer });
    const body = (
      await app.inject(await formRequest({ image, query: 'Which flaw is worst? A. Noise B. Blur' }))
    ).json<Assessment>();
    t.match(body.replan_history, [
      /^\[Iteration 1\] Missing distortion analysis for Global \(Blurs\); Missing tool scores for Global \(Blurs\)$/,
    ]);
    t.notMatch(double.seen[0]?.turns[0]?.text, /missing_so_far/);
    t.match(
      double.seen[2]?.turns[0]?.text,
      /"missing_so_far": "Missing distortion analysis for Global \(Blurs\); Missing tool scores/,
    );
    t.match(body, {
      summarizer_result: { final_answer: 'A', need_replan: false },
      metadata: { degraded: false, vlm: { calls: 4, cache_hits: 0 } },
    });
  },
);

t.test('a sidecar that is down: the model answers from its own eyes, degraded, without a replan', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, {
    environment: double.environment('openai'),
    origin: () => 'http://127.0.0.1:9',
    adjust: withModels(),
  });
  const { distortion_set, distortion_analysis } = MERGED_ANSWER;
  double.play(
    { say: { distortion_set, distortion_analysis } },
    { say: LEVELS_ANSWER, levels: { Good: 0.7, Fair: 0.3 } },
  );
  const response = await app.inject(await formRequest({ image, query: 'Rate this photo.' }));
  t.equal(response.statusCode, 200, response.body);
  const body = response.json<Assessment>();
  t.match(body, {
    quality_score: { method: 'reasoner_only', tool_mean: null },
    iteration_count: 0,
    summarizer_result: { final_answer: 'Good', need_replan: false },
    metadata: { degraded: true, degraded_reason: /measuring tools are not available/, reasoner: { kind: 'vlm' } },
  });
  t.notOk(double.seen[0]?.schema?.properties?.['selected_tools'], 'there is nothing to choose from');
});

t.test('neither model nor tools: a problem, and no empty answer', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, {
    environment: double.environment('openai'),
    origin: () => 'http://127.0.0.1:9',
    adjust: withModels({}, { retry_attempts: 1 }),
  });
  double.play({ fail: 500 }, { fail: 500 });
  const response = await app.inject(await formRequest({ image, query: 'Rate this photo.' }));
  t.match(response.json<Problem>(), { status: 502, code: 'IQA_MODEL_FAILED', detail: /nothing could be measured/ });
});

t.test('a chosen back end without key is refused with what it needs; a configured one degrades', async (t) => {
  const { app } = await buildTestApp(t, { environment: { IQA_BACKEND: 'openai.gpt-4o' } });
  const body = (await app.inject(await formRequest({ image, query: 'Rate this photo.' }))).json<Assessment>();
  t.match(body.metadata, {
    degraded: true,
    degraded_reason: /no back end can be asked/,
    reasoner: { kind: 'embedded' },
  });
  const refused = await app.inject(await formRequest({ image, backend: 'openai.gpt-4o' }));
  t.match(refused.json<Problem>(), { status: 422, detail: /openai\.gpt-4o \(needs OPENAI_API_KEY\)/ });
});

t.test('a configured back end without key and degrade: none make a problem', async (t) => {
  const { app } = await buildTestApp(t, {
    environment: { IQA_BACKEND: 'openai.gpt-4o' },
    adjust: withModels({}, { degrade: 'none' }),
  });
  const problem = (await app.inject(await formRequest({ image, query: 'Rate this photo.' }))).json<Problem>();
  t.match(problem, { status: 502, code: 'IQA_MODEL_FAILED', detail: /no back end can be asked/ });
});

const DEADLINE_MS = 6_000;
/** What a machine that is busy otherwise may add. */
const GRACE_MS = 6_000;
t.test('a deadline is kept whatever the provider does', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, {
    environment: double.environment('openai', 'anthropic'),
    adjust: (config) => ({
      ...withModels()(config),
      pipeline: { ...config.pipeline, timeouts_ms: { ...config.pipeline.timeouts_ms, request: DEADLINE_MS } },
    }),
  });
  double.otherwise({ misbehave: 'slow_bytes' });
  const started = performance.now();
  const response = await app.inject(await formRequest({ image, query: FREE_FORM }));
  // Without a deadline three attempts of 10 s each, and those of the fallback, would follow one another in every role.
  t.ok(performance.now() - started < DEADLINE_MS + GRACE_MS, `${Math.round(performance.now() - started)} ms`);
  t.equal(response.statusCode, 200, 'the embedded reasoner still had its time');
  t.equal(response.json<Assessment>().metadata.degraded, true);
  await delay(50);
});

// Scenario: planner-design / API keys never logged
t.test('no key in anything a run writes, at the most talkative level, whatever the provider echoes', async (t) => {
  const double = await startProviderDouble(t);
  const { app, logs } = await buildTestApp(t, {
    environment: { ...double.environment('openai', 'anthropic', 'google'), IQA_LOG_LEVEL: 'trace' },
    adjust: withModels({}, { retry_attempts: 2 }),
  });
  const all = Object.values(KEYS).join(' and ');
  const echo: Step = {
    fail: 401,
    body: { error: { message: `Incorrect API key provided: ${all}`, code: 'invalid_api_key' } },
    headers: { 'x-echo': KEYS.openai, 'www-authenticate': KEYS.openai },
  };
  const disguised = Object.values(KEYS)
    .flatMap((key) => [percentEncoded(key), Buffer.from(`Bearer ${key}`).toString('base64'), asUnicode(key)])
    .join(' ');
  const steps: Step[] = [
    { fail: 401, body: { error: { message: disguised } } },
    { say: { ...LEVELS_ANSWER, quality_reasoning: disguised, distortion_set: disguised } },
    { fail: 307, headers: { location: `http://127.0.0.1:9/?key=${KEYS.openai}` } },
    echo,
    { fail: 500, body: { error: { message: all } } },
    { raw: `<html>${all}</html>`, contentType: `text/html; key=${KEYS.anthropic}` },
    { fail: 400, body: `not even JSON ${all}` },
    { say: `your key is ${all}` },
    {
      say: {
        ...MERGED_ANSWER,
        distortion_analysis: [{ object: 'Global', type: 'Noise', severity: 'slight', explanation: `Grain. ${all}` }],
      },
    },
    { say: { ...LEVELS_ANSWER, final_answer: all } },
    { say: { ...LEVELS_ANSWER, quality_reasoning: `It is ${all}.` } },
    { fail: 429, body: { error: { message: all } } },
    { misbehave: 'hang_up' },
  ];
  let next = 0;
  double.otherwise(() => steps[next++ % steps.length]!);
  const bodies: string[] = [];
  for (const backend of ['openai.gpt-4o', 'google.gemini-3.5-flash-lite', 'anthropic.claude-3.5-sonnet', 'auto']) {
    for (const query of ['Rate this photo.', FREE_FORM, `Why is ${backend} worse? A. Noise B. Blur`]) {
      const response = await app.inject(await formRequest({ image, query, backend }));
      bodies.push(JSON.stringify(response.headers), response.body);
    }
  }
  t.ok(next > steps.length, 'every echo was heard');
  const written = [...bodies, ...logs.map((line) => JSON.stringify(line))];
  t.ok(
    written.some((text) => text.includes('provider_says')) &&
      written.some((text) => text.includes('Model conversation')),
    'there was something to find',
  );
  for (const key of Object.values(KEYS)) {
    t.same(
      written.filter((text) => text.includes(key)).map((text) => text.slice(0, 200)),
      [],
      key.slice(0, 6),
    );
    for (const spelling of [
      Buffer.from(key).toString('base64').slice(0, -2),
      Buffer.from(`Bearer ${key}`).toString('base64').slice(12, -4),
      percentEncoded(key),
      asUnicode(key),
    ]) {
      t.same(
        written
          .filter((text) => text.includes(spelling) || text.includes(JSON.stringify(spelling).slice(1, -1)))
          .map((text) => text.slice(0, 200)),
        [],
        spelling.slice(0, 12),
      );
    }
  }
});

const percentEncoded = (key: string): string =>
  Array.from(key, (character) => `%${character.charCodeAt(0).toString(16)}`).join('');
const asUnicode = (key: string): string =>
  Array.from(key, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
