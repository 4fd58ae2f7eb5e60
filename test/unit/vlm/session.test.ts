// Validation, retries and fallbacks: how often a model is asked, with what feedback, in which order, and what is recorded.
import t from 'tap';
import Type from 'typebox';
import { loadConfig } from '../../../src/config/config.ts';
import { answerCacheKey } from '../../../src/vlm/build-request.ts';
import { ModelFailedError } from '../../../src/errors.ts';
import { startProviderDouble, type SeenRequest, type Step } from '../../support/providers/provider-double.ts';
import { backendsFor, newCache, sessionFor, YES_OR_NO, type TestSession } from '../../support/providers/models.ts';

const YES: Step = { say: { answer: 'yes' } };

async function prepare(
  t: Parameters<typeof startProviderDouble>[0],
  options: Omit<TestSession, 'chain'> = {},
  withFallback = true,
) {
  const double = await startProviderDouble(t);
  const chain = backendsFor(
    double.environment('openai', 'anthropic'),
    ...['openai.gpt-4o', 'anthropic.claude-3.5-sonnet'].slice(0, withFallback ? 2 : 1),
  );
  return { double, chain, ...sessionFor({ chain, ...options }) };
}

// Scenario: planner-design / Error Handling Strategy
t.test('each invalid answer is sent back with what was wrong', async (t) => {
  const { double, ask, session, logs } = await prepare(t);
  double.play({ say: { answer: 'perhaps' } }, { say: 'I would say {"answer": "y' }, YES);
  t.match(await ask(), { value: { answer: 'yes' }, backend: 'openai.gpt-4o', model: 'gpt-4o-double' });
  const [first, second, third] = double.seen;
  t.same(
    first?.turns.map(({ role }) => role),
    ['user'],
  );
  t.same(
    second?.turns.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  );
  t.equal(second?.turns[1]?.text, '{"answer":"perhaps"}', 'its own reply');
  t.match(second?.turns[2]?.text, /Expected one of "yes", "no" for \/answer but received "perhaps".*valid JSON only/);
  t.match(third?.turns[2]?.text, /Expected a JSON object but received text without one/);
  t.match(session.failures(), [
    {
      role: 'planner',
      attempt: 1,
      backend: 'openai.gpt-4o',
      error_type: 'validation_error',
      message: /perhaps/,
      timestamp: /^\d{4}-.*Z$/,
    },
    { attempt: 2, error_type: 'validation_error' },
  ]);
  t.match(
    logs.find((line) => line['msg'] === 'Planner attempt failed'),
    { planner_error: { details: { attempt: 1, backend: 'openai.gpt-4o' }, retry_count: 0 } },
  );
});

t.test('prose and fences around valid JSON cost no retry', async (t) => {
  const { double, ask } = await prepare(t);
  double.play({ say: 'Sure!\n```json\n{"answer": "yes"}\n```\nAnything else?' });
  t.equal((await ask()).value.answer, 'yes');
});

t.test('three attempts, then the fallback; each with its own attempts', async (t) => {
  const { double, ask, session } = await prepare(t);
  double.play({ say: 'no' }, { say: '[]' }, { say: '' }, { say: {} }, YES);
  t.match(await ask(), { backend: 'anthropic.claude-3.5-sonnet' });
  t.same(
    double.seen.map(({ wire }) => wire),
    ['openai', 'openai', 'openai', 'anthropic', 'anthropic'],
  );
  t.same(
    session.failures().map(({ backend, attempt }) => [backend.split('.')[0], attempt]),
    [
      ['openai', 1],
      ['openai', 2],
      ['openai', 3],
      ['anthropic', 1],
    ],
  );
});

t.test('authentication and bad requests go straight to the fallback', async (t) => {
  for (const fail of [401, 403, 400, 404, 413]) {
    const { double, ask, session } = await prepare(t);
    double.play({ fail }, YES);
    t.match(await ask(), { backend: 'anthropic.claude-3.5-sonnet' }, String(fail));
    t.match(session.failures(), [{ error_type: 'api_error', message: `The provider answered ${fail}` }]);
  }
});

t.test('transient failures are retried after a wait, refusals and truncated answers with an explanation', async (t) => {
  const { double, ask, session } = await prepare(t, { role: { retry_attempts: 6, timeout: 5_000 } });
  double.play(
    { fail: 500 },
    { misbehave: 'hang_up' },
    { misbehave: 'never' },
    { speech: { text: '', finish: 'refusal' } },
    { speech: { text: '{"answer', finish: 'length' } },
    YES,
  );
  t.match(await ask(), { backend: 'openai.gpt-4o', value: { answer: 'yes' } });
  t.same(
    session.failures().map(({ error_type }) => error_type),
    ['api_error', 'api_error', 'timeout_error', 'api_error', 'api_error'],
  );
  t.match(double.seen[4]?.turns.at(-1)?.text, /The model refused to answer/, 'in one turn: there is no reply to quote');
  t.match(double.seen[5]?.turns.at(-1)?.text, /cut off at the token limit; answer more briefly/);
});

t.test('Retry-After is honoured; without time for it the fallback is asked', async (t) => {
  const { double, ask } = await prepare(t);
  double.play({ fail: 429, headers: { 'retry-after-ms': '200' } }, YES);
  const started = performance.now();
  t.match(await ask(), { backend: 'openai.gpt-4o' });
  t.ok(performance.now() - started >= 200, 'at least the requested wait');
  double.play({ fail: 429, headers: { 'retry-after': '60' } }, YES);
  t.match(await ask(), { backend: 'anthropic.claude-3.5-sonnet' });
});

t.test('the first back end leaves time for its fallback', async (t) => {
  const { double, ask } = await prepare(t);
  double.play({ misbehave: 'never' }, YES);
  t.match(await ask(12_000), { backend: 'anthropic.claude-3.5-sonnet' });
});

t.test('without a valid answer the failure names the last back end and counts the attempts', async (t) => {
  const { double, ask } = await prepare(t, { role: { retry_attempts: 1 } });
  double.play({ fail: 503 }, { fail: 401 });
  const error = await ask().then(
    () => null,
    (thrown: unknown) => thrown as ModelFailedError,
  );
  t.ok(error instanceof ModelFailedError);
  t.match(error, {
    code: 'IQA_MODEL_FAILED',
    message: 'anthropic.claude-3.5-sonnet gave no valid answer (The provider answered 401)',
  });
  t.equal(error?.attempts, 2);
  double.play({ misbehave: 'never' }, { misbehave: 'never' });
  await t.rejects(ask(4_000), { code: 'IQA_MODEL_TIMEOUT' });
});

t.test('an abort ends the query immediately, also during a wait', async (t) => {
  const { double, ask } = await prepare(t);
  const controller = new AbortController();
  double.play(() => {
    setTimeout(() => {
      controller.abort(new DOMException('gone', 'AbortError'));
    }, 50);
    return { fail: 429, headers: { 'retry-after': '10' } };
  });
  await t.rejects(ask(undefined, YES_OR_NO, controller.signal), { name: 'AbortError' });
});

t.test('after five failures in a row a back end is not called', async (t) => {
  const double = await startProviderDouble(t);
  const [backend] = backendsFor(double.environment('openai'), 'openai.gpt-4o');
  const { ask, session } = sessionFor({ chain: [backend!], role: { retry_attempts: 5 } });
  double.play(...Array.from({ length: 5 }, (): Step => ({ fail: 500 })));
  await t.rejects(ask(), { code: 'IQA_MODEL_FAILED' });
  await t.rejects(ask(), /paused for a while/, 'no request reaches it');
  t.equal(double.seen.length, 5);
  t.match(session.failures().at(-1), { error_type: 'api_error' });
});

t.test('no more calls than allowed, retries and fallbacks included', async (t) => {
  const { double, ask, budget } = await prepare(t, { limits: { max_calls: 4, max_cost_usd: null } });
  double.play({ fail: 500 }, { fail: 500 }, { fail: 500 }, { say: 'no' });
  await t.rejects(ask(), /limit of 4 model calls/);
  t.equal(budget.usage().calls, 4);
});

t.test('no call that could exceed the cost limit; usage is reported by role', async (t) => {
  const { double, ask, budget } = await prepare(t, { limits: { max_calls: 12, max_cost_usd: 0.03 } }, false);
  double.play({ speech: { text: '{"answer":"yes"}', usage: { input: 2_000, output: 400 } } });
  await ask();
  t.match(budget.usage(), {
    calls: 1,
    cost_usd: 0.009,
    roles: { planner: { calls: 1, input_tokens: 2_000, output_tokens: 400, cost_usd: 0.009 }, executor: { calls: 0 } },
  });
  await t.rejects(ask(), /could exceed the limit of 0.03 USD/);
});

// Scenario: planner-design / Result caching by query and image hash
t.test('a valid answer is cached: the same query is not sent twice, another one is', async (t) => {
  const { double, ask, session, budget } = await prepare(t, { cache: newCache() });
  double.play({ say: 'hm' }, YES, { say: { answer: 'no' } });
  t.match(await ask(), { value: { answer: 'yes' } });
  t.match(await ask(), { value: { answer: 'yes' }, backend: 'openai.gpt-4o' });
  t.equal(session.cacheHits(), 1);
  const other = {
    ...YES_OR_NO,
    compose: async () => ({ ...(await YES_OR_NO.compose({} as never)), prompt: 'Is it not?' }),
  };
  t.match(await ask(undefined, other), { value: { answer: 'no' } });
  t.equal(budget.usage().calls, 3);
});

t.test('the cache key depends on role, task, prompt, its version, images, schema, model and settings', async (t) => {
  const [backend] = backendsFor({ OPENAI_API_KEY: 'k' }, 'openai.gpt-4o');
  const composed = await YES_OR_NO.compose({} as never);
  const { planner } = loadConfig({}).models;
  const image = { label: 'x', mediaType: 'image/png' as const, base64: '', width: 1, height: 1, key: 'hash' };
  const keys = [
    answerCacheKey('planner', backend!, composed, planner),
    answerCacheKey('executor', backend!, composed, planner),
    answerCacheKey('planner', { ...backend!, name: 'other' }, composed, planner),
    answerCacheKey('planner', { ...backend!, model: 'other' }, composed, planner),
    answerCacheKey('planner', backend!, composed, { ...planner, temperature: 1 }),
    ...[
      { task: 'other' },
      { prompt: 'Other?' },
      { promptVersion: '2' },
      { system: 'Other.' },
      { schema: Type.Object({}) },
      { images: [image] },
      { images: [{ ...image, key: 'other' }] },
    ].map((change) => answerCacheKey('planner', backend!, { ...composed, ...change }, planner)),
  ];
  t.equal(new Set(keys).size, keys.length, 'each change makes another key');
  t.equal(
    answerCacheKey('planner', backend!, await YES_OR_NO.compose({} as never), { ...planner, retry_attempts: 1 }),
    keys[0],
    'and nothing else does',
  );
});

t.test('a model that refuses log-probabilities is asked without them from then on', async (t) => {
  const double = await startProviderDouble(t);
  const [backend] = backendsFor(double.environment('google'), 'google.gemini-3.5-flash-lite');
  const { ask } = sessionFor({ chain: [backend!] });
  const question = {
    ...YES_OR_NO,
    compose: async ({ logprobs }: { logprobs: number }) => ({
      ...(await YES_OR_NO.compose({} as never)),
      logprobs: logprobs > 0,
    }),
  };
  double.play(
    (request: SeenRequest) =>
      request.logprobs > 0
        ? { fail: 400, body: { error: { message: 'Logprobs is not supported for the current model.' } } }
        : YES,
    YES,
    YES,
  );
  t.match(await ask(undefined, question), { value: { answer: 'yes' } });
  await ask(undefined, question);
  t.same(
    double.seen.map(({ logprobs }) => logprobs),
    [20, 0, 0],
  );
});

t.test('a server without structured output gets the schema in the prompt', async (t) => {
  const double = await startProviderDouble(t);
  const [backend] = backendsFor(double.environment('openai'), 'openai.gpt-4o');
  const { ask } = sessionFor({
    chain: [{ ...backend!, capabilities: { ...backend!.capabilities, structuredOutput: false } }],
  });
  double.play({ say: 'The answer: {"answer": "no"}' });
  t.equal((await ask()).value.answer, 'no');
  t.equal(double.seen[0]?.schema, null);
  t.match(double.seen[0]?.system, /one JSON object and nothing else[\s\S]*"enum":\["yes","no"\]/);
});
