// POST /assess with models behind it: the whole way over HTTP, the official SDKs against the provider double.
import t from 'tap';
import type { Assessment } from '../../schemas/assessment.ts';
import { buildTestApp, formRequest } from '../support/app.ts';
import { GLOBAL_PLAN_ANSWER, LEVELS_ANSWER, MERGED_ANSWER } from '../support/model-answers.ts';
import { makePicture } from '../support/pictures.ts';
import { KEYS, startProviderDouble } from '../support/provider-double.ts';

const image = await makePicture({ width: 320, height: 240 }).jpeg({ quality: 90 }).toBuffer();

// Scenario: planner-design / VLM Client Abstraction Pattern
t.test('"rate this photo" costs two calls with every provider, and says who spoke and what it cost', async (t) => {
  for (const [wire, backend] of [['openai', 'openai.gpt-4o'], ['anthropic', 'anthropic.claude-3.5-sonnet'], ['google', 'google.gemini-3.5-flash-lite']] as const) {
    await t.test(wire, async (t) => {
      const double = await startProviderDouble(t);
      const { app } = await buildTestApp(t, { environment: double.environment(wire) });
      const probabilities = { Excellent: 0.1, Good: 0.6, Fair: 0.2, Poor: 0.1, Bad: 0 };
      double.play({ say: MERGED_ANSWER }, wire === 'anthropic'
        ? { say: { ...LEVELS_ANSWER, probabilities } }
        : { say: LEVELS_ANSWER, levels: { Good: 0.6, good: 0.1, ' Fair': 0.2, '"Poor': 0.05 } });
      const response = await app.inject(await formRequest({ image, query: 'Rate this photo.' }));
      t.equal(response.statusCode, 200, response.body);
      const body = response.json<Assessment>();
      t.match(body.metadata.reasoner, { kind: 'vlm', backend });
      t.match(body.metadata, { degraded: false, degraded_reason: null });
      t.match(body.metadata.vlm, {
        calls: 2, input_tokens: 1800, output_tokens: 240, cache_hits: 0, failed_attempts: [],
        roles: { planner: { calls: 0 }, executor: { calls: 1, input_tokens: 900 }, summarizer: { calls: 1, output_tokens: 120 } },
      });
      t.ok(body.metadata.vlm.cost_usd > 0);
      t.strictSame(body.executor_evidence?.distortion_set, { Global: ['Noise'] });
      t.match(body.executor_evidence?.quality_scores, { Global: { Noise: ['NIQE', Number] } });
      t.equal(body.quality_score?.method, wire === 'anthropic' ? 'declared' : 'logprobs');
      t.equal(body.summarizer_result?.final_answer, body.quality_score?.level);
      t.match(body.diagnostics.findings[0], { distortion: 'Noise', severity: 'slight', confidence: 0.8 });
      const [executor, summarizer] = double.seen;
      t.equal(executor?.images.length, 1, 'the picture goes out once a call');
      t.equal(summarizer?.images.length, 1);
      t.same([executor?.temperature, executor?.topP, executor?.maxTokens], wire === 'anthropic' ? [undefined, undefined, 2048] : [0, 0.1, 2048]);
      t.notOk(response.body.includes(KEYS[wire]));
    });
  }
});

t.test('a free-form question costs three calls; the planner is asked without the picture', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, { environment: double.environment('openai') });
  double.play({ say: GLOBAL_PLAN_ANSWER }, { say: MERGED_ANSWER }, { say: { ...LEVELS_ANSWER, final_answer: 'A little grain.' } });
  const response = await app.inject(await formRequest({ image, query: 'Tell me what went wrong when my uncle took this snapshot with his ancient gadget' }));
  const body = response.json<Assessment>();
  t.equal(response.statusCode, 200, response.body);
  t.equal(body.metadata.vlm.calls, 3);
  t.equal(body.summarizer_result?.final_answer, 'A little grain.');
  t.equal(body.diagnostics.plan_confidence, null);
  t.same(double.seen.map(({ images }) => images.length), [0, 1, 1]);
});
