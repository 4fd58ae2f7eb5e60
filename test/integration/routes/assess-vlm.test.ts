// POST /assess with models behind it: the whole way over HTTP, the official SDKs against the provider double.
import { setTimeout as delay } from 'node:timers/promises';
import sharp from 'sharp';
import t from 'tap';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import type { Config } from '../../../src/config/config.ts';
import { buildTestApp, formRequest } from '../../support/app.ts';
import { GLOBAL_PLAN_ANSWER, LEVELS_ANSWER, MERGED_ANSWER } from '../../support/providers/model-answers.ts';
import { withModels } from '../../support/providers/models.ts';
import { makeImage } from '../../support/images/images.ts';
import { KEYS, startProviderDouble, type SeenRequest } from '../../support/providers/provider-double.ts';

const image = await makeImage({ width: 320, height: 240 }).jpeg({ quality: 90 }).toBuffer();
/** The model plans, however sure the embedded planner is of the question. */
const alwaysPlanning = withModels({ planner_certain_from: 2, executor_ahead_from: 2 });

// Scenario: planner-design / VLM Client Abstraction Pattern
t.test('"rate this photo" costs two calls with every provider, and says who spoke and what it cost', async (t) => {
  for (const [wire, backend] of [
    ['openai', 'openai.gpt-4o'],
    ['anthropic', 'anthropic.claude-3.5-sonnet'],
    ['google', 'google.gemini-3.5-flash-lite'],
  ] as const) {
    await t.test(wire, async (t) => {
      const double = await startProviderDouble(t);
      const { app } = await buildTestApp(t, { environment: double.environment(wire) });
      const probabilities = { Excellent: 0.1, Good: 0.6, Fair: 0.2, Poor: 0.1, Bad: 0 };
      double.play(
        { say: MERGED_ANSWER },
        wire === 'anthropic'
          ? { say: { ...LEVELS_ANSWER, probabilities } }
          : { say: LEVELS_ANSWER, levels: { Good: 0.6, good: 0.1, ' Fair': 0.2, '"Poor': 0.05 } },
      );
      const response = await app.inject(await formRequest({ image, query: 'Rate this photo.' }));
      t.equal(response.statusCode, 200, response.body);
      const body = response.json<Assessment>();
      t.match(body.metadata.reasoner, { kind: 'vlm', backend });
      t.match(body.metadata, { degraded: false, degraded_reason: null });
      t.match(body.metadata.vlm, {
        calls: 2,
        input_tokens: 1800,
        output_tokens: 240,
        cache_hits: 0,
        failed_attempts: [],
        roles: {
          planner: { calls: 0 },
          executor: { calls: 1, input_tokens: 900 },
          summarizer: { calls: 1, output_tokens: 120 },
        },
      });
      t.ok(body.metadata.vlm.cost_usd > 0);
      t.strictSame(body.executor_evidence?.distortion_set, { Global: ['Noise'] });
      t.match(body.executor_evidence?.quality_scores, { Global: { Noise: ['NIQE', Number] } });
      t.equal(body.quality_score?.method, wire === 'anthropic' ? 'declared' : 'logprobs');
      t.equal(body.summarizer_result?.final_answer, body.quality_score?.level);
      t.match(body.diagnostics.findings[0], { distortion: 'Noise', severity: 'slight', confidence: 0.8 });
      const [executor, summarizer] = double.seen;
      t.equal(executor?.images.length, 1, 'the image is sent once per call');
      t.equal(summarizer?.images.length, 1);
      t.same(
        [executor?.temperature, executor?.topP, executor?.maxTokens],
        wire === 'anthropic' ? [undefined, undefined, 2048] : [0, 0.1, 2048],
      );
      t.notOk(response.body.includes(KEYS[wire]));
    });
  }
});

t.test('a free-form question costs three calls; the planner is asked without the image', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, { environment: double.environment('openai') });
  double.play(
    { say: GLOBAL_PLAN_ANSWER },
    { say: MERGED_ANSWER },
    { say: { ...LEVELS_ANSWER, final_answer: 'A little grain.' } },
  );
  const response = await app.inject(
    await formRequest({ image, query: 'Methinks yon snapshot wants a spot of scrutiny, prithee opine' }),
  );
  const body = response.json<Assessment>();
  t.equal(response.statusCode, 200, response.body);
  t.equal(body.metadata.vlm.calls, 3);
  t.equal(body.summarizer_result?.final_answer, 'A little grain.');
  t.equal(body.diagnostics.plan_confidence, null);
  t.same(
    double.seen.map(({ images }) => images.length),
    [0, 1, 1],
  );
});

t.test("reasoning: paper makes the paper's five calls, one by one, with the same schema of the result", async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, { environment: { ...double.environment('openai'), IQA_REASONING: 'paper' } });
  const { distortion_set, distortion_analysis, selected_tools } = MERGED_ANSWER;
  double.play(
    { say: GLOBAL_PLAN_ANSWER },
    { say: { distortion_set } },
    { say: { distortion_analysis } },
    { say: { selected_tools } },
    { say: LEVELS_ANSWER, levels: { Good: 1 } },
  );
  const body = (await app.inject(await formRequest({ image, query: 'Rate this photo.' }))).json<Assessment>();
  t.match(body.metadata, {
    degraded: false,
    vlm: { calls: 5, roles: { planner: { calls: 1 }, executor: { calls: 3 }, summarizer: { calls: 1 } } },
  });
  t.same(
    double.seen.map(({ schema }) => Object.keys(schema?.properties ?? {})[0]),
    ['query_type', 'distortion_set', 'distortion_analysis', 'selected_tools', 'final_answer'],
  );
  t.same(
    double.seen.map(({ images }) => images.length),
    [1, 1, 1, 1, 1],
  );
  t.match(double.seen[3]?.turns[0]?.text, /"severity": "slight"/, 'each step is told what the one before found');
  t.strictSame(body.executor_evidence?.selected_tools, { Global: { Noise: 'NIQE' } });
});

t.test('multiple choice: the label of an option, whatever way it is written', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, { environment: double.environment('openai') });
  const named = ['Noise', 'Blurs', 'Brightness change'];
  const examined = {
    distortion_analysis: named.map((type) => ({
      object: 'Global',
      type,
      severity: 'slight',
      explanation: 'A little.',
      confidence: 0.8,
    })),
    selected_tools: named.map((distortion) => ({ object: 'Global', distortion, tool: 'NIQE' })),
  };
  double.play(
    { say: examined },
    { say: { ...LEVELS_ANSWER, final_answer: 'E' } },
    { say: { ...LEVELS_ANSWER, final_answer: 'b. blur' } },
  );
  const response = await app.inject(
    await formRequest({
      image,
      query: 'Which flaw is worst?',
      choices: JSON.stringify(['Noise', 'Blur', 'Overexposure']),
    }),
  );
  const body = response.json<Assessment>();
  t.strictSame(body.replan_history, [], 'nothing was missing');
  t.equal(body.summarizer_result?.final_answer, 'B');
  t.match(double.seen.at(-1)?.schema?.properties?.['final_answer'], { enum: ['A', 'B', 'C'] });
  t.match(body.metadata.vlm.failed_attempts, [{ role: 'summarizer', message: /"A", "B", "C".*"E"/ }]);
  t.equal(
    body.quality_score?.method,
    'distribution',
    'a choice says nothing of the levels: p is what ratings around the tools are',
  );
});

t.test('a question about mood goes from the planner to the summarizer, without measuring', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, { environment: double.environment('openai') });
  double.play({ say: { ...LEVELS_ANSWER, final_answer: 'It feels calm.' } });
  const body = (
    await app.inject(await formRequest({ image, query: 'What emotion does this picture evoke?' }))
  ).json<Assessment>();
  t.equal(body.plan?.query_type, 'Other');
  t.equal(body.summarizer_result?.final_answer, 'It feels calm.');
  t.equal(body.quality_score, null);
});

t.test(
  "boxes of the request: a crop at full resolution beside the whole image, evidence under the object's name",
  async (t) => {
    const double = await startProviderDouble(t);
    const { app } = await buildTestApp(t, {
      environment: { ...double.environment('openai'), IQA_VLM_LONG_SIDE: '128' },
      adjust: alwaysPlanning,
    });
    double.play(
      {
        say: {
          ...GLOBAL_PLAN_ANSWER,
          query_scope: ['ball'],
          distortion_source: 'Explicit',
          distortions: [{ object: 'ball', categories: ['Blurs'] }],
          required_tool: 'brisque',
        },
      },
      {
        say: { distortion_analysis: [{ object: 'ball', type: 'blur', severity: 'Mild', explanation: 'Soft edges.' }] },
      },
      { say: { ...LEVELS_ANSWER, final_answer: 'Slightly.' } },
    );
    const regions = JSON.stringify([{ name: 'ball', box: [20, 30, 200, 180] }]);
    const body = (
      await app.inject(
        await formRequest({ image, query: 'Going by BRISQUE, would you call the ball in my pic unsharp?', regions }),
      )
    ).json<Assessment>();
    t.match(body.plan, {
      query_scope: ['ball'],
      required_tool: 'BRISQUE',
      plan: { distortion_detection: false, tool_selection: false, tool_execution: true },
    });
    t.match(body.executor_evidence, {
      distortion_analysis: { ball: [{ type: 'Blurs', severity: 'slight' }] },
      quality_scores: { ball: { Blurs: ['BRISQUE', Number] } },
    });
    t.same(await sizesOf(double.seen[1]?.images), [
      [128, 96],
      [200, 180],
    ]);
  },
);

t.test(
  'a photo that lies on its side is shown upright, its crop is taken from the upright image, and nothing but pixels leaves the house',
  async (t) => {
    const double = await startProviderDouble(t);
    const { app } = await buildTestApp(t, { environment: double.environment('openai'), adjust: alwaysPlanning });
    // Left half red, right half blue; turned by a quarter to the right, red is on top.
    const half = (background: string) =>
      sharp({ create: { width: 160, height: 240, channels: 3, background } })
        .png()
        .toBuffer();
    const lying = await sharp({ create: { width: 320, height: 240, channels: 3, background: 'black' } })
      .composite([
        { input: await half('red'), left: 0, top: 0 },
        { input: await half('blue'), left: 160, top: 0 },
      ])
      .withExif({ IFD0: { Artist: 'SECRET' }, IFD3: { GPSAreaInformation: 'SECRET' } })
      .withMetadata({ orientation: 6 })
      .jpeg({ quality: 95 })
      .toBuffer();
    double.play(
      {
        say: {
          ...GLOBAL_PLAN_ANSWER,
          query_scope: ['top'],
          distortion_source: 'Explicit',
          distortions: [{ object: 'top', categories: ['Blurs'] }],
        },
      },
      { say: { distortion_analysis: [{ object: 'top', type: 'Blurs', severity: 'none', explanation: 'Crisp.' }] } },
      { say: { ...LEVELS_ANSWER, final_answer: 'No.' } },
    );
    const regions = JSON.stringify([{ name: 'top', box: [20, 20, 200, 120] }]);
    const response = await app.inject(
      await formRequest({ image: lying, query: 'Did the top come out fuzzy, do you reckon?', regions }),
    );
    t.equal(response.statusCode, 200, response.body);
    const [whole, crop] = double.seen[1]?.images ?? [];
    t.same(await sizesOf([whole!, crop!]), [
      [240, 320],
      [200, 120],
    ]);
    const { channels } = await sharp(crop!.data).stats();
    t.ok((channels[0]?.mean ?? 0) > 200 && (channels[2]?.mean ?? 255) < 60, 'the crop is red all over');
    for (const { data } of [whole!, crop!]) t.notOk(data.includes('SECRET') || data.includes('Exif'), 'no metadata');
  },
);

t.test('a large image is scaled to 1,024 pixels, a small one is not scaled up', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, { environment: double.environment('openai') });
  for (const [width, height, expected] of [
    [1600, 800, [1024, 512]],
    [700, 1400, [512, 1024]],
    [1024, 768, [1024, 768]],
    [240, 200, [240, 200]],
  ] as const) {
    double.seen.length = 0;
    double.play({ say: MERGED_ANSWER }, { say: LEVELS_ANSWER, levels: { Good: 1 } });
    const photo = await makeImage({ width, height }).jpeg({ quality: 90 }).toBuffer();
    t.equal((await app.inject(await formRequest({ image: photo, query: 'Rate this photo.' }))).statusCode, 200);
    t.same(await sizesOf(double.seen.flatMap(({ images }) => images)), [expected, expected]);
  }
});

t.test(
  'a model that grounds finds the object itself; its box is cut to the image and the tools score the crop',
  async (t) => {
    const double = await startProviderDouble(t);
    const { app } = await buildTestApp(t, { environment: double.environment('google'), adjust: alwaysPlanning });
    double.play(
      { say: { ...GLOBAL_PLAN_ANSWER, query_scope: ['red ball'], required_tool: 'BRISQUE' } },
      {
        say: {
          boxes: [
            { object: 'red ball', left: 500, top: -100, right: 1400, bottom: 900 },
            { object: 'Global', left: 0, top: 0, right: 9, bottom: 9 },
          ],
          distortion_set: [{ object: 'red ball', distortions: ['Blurs'] }],
          distortion_analysis: [
            { object: 'red ball', type: 'Blurs', severity: 'moderate', explanation: 'Soft.', confidence: 0.9 },
          ],
        },
      },
      { say: { ...LEVELS_ANSWER, final_answer: 'Somewhat soft.' } },
    );
    const body = (
      await app.inject(
        await formRequest({ image, query: 'Measure with BRISQUE what became of the red ball, will you?' }),
      )
    ).json<Assessment>();
    t.match(body.executor_evidence, {
      distortion_set: { 'red ball': ['Blurs'] },
      quality_scores: { 'red ball': { Blurs: ['BRISQUE', Number] } },
    });
    t.same(
      await sizesOf(double.seen[2]?.images),
      [
        [320, 240],
        [160, 216],
      ],
      'the summarizer sees the crop: left half cut off, top and right clamped',
    );
    t.notMatch(body.diagnostics.notes.join(), /No box was given/);
  },
);

t.test(
  'without a box, and from a model that does not ground, the evidence is about the whole image and says so',
  async (t) => {
    const double = await startProviderDouble(t);
    const { app } = await buildTestApp(t, { environment: double.environment('openai'), adjust: alwaysPlanning });
    double.play(
      { say: { ...GLOBAL_PLAN_ANSWER, query_scope: ['red ball'], distortions: { 'red ball': ['Blurs'] } } },
      { say: { distortion_analysis: { 'red ball': [{ type: 'Blurs', severity: 'none', explanation: 'Crisp.' }] } } },
      { say: { ...LEVELS_ANSWER, final_answer: 'No.' } },
    );
    const body = (
      await app.inject(await formRequest({ image, query: 'Did the red ball come out fuzzy, do you reckon?' }))
    ).json<Assessment>();
    t.match(body.executor_evidence?.distortion_analysis, { Global: [{ type: 'Blurs', severity: 'none' }] });
    t.match(body.diagnostics.notes, [/No box was given for red ball/]);
    t.notOk(double.seen[1]?.schema?.properties?.['boxes'], 'it is not asked for boxes');
  },
);

t.test('a reference goes along as a second image, and full-reference tools may be chosen', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, { environment: double.environment('anthropic') });
  const reference = await makeImage({ width: 320, height: 240 }).png().toBuffer();
  double.play({ say: { ...MERGED_ANSWER, selected_tools: { Global: { Noise: 'ssim' } } } }, { say: LEVELS_ANSWER });
  const body = (
    await app.inject(await formRequest({ image, reference, query: 'How much quality was lost?' }))
  ).json<Assessment>();
  t.match(body.executor_evidence?.quality_scores, { Global: { Noise: ['SSIM', Number] } });
  t.same(
    double.seen.map(({ images }) => images.length),
    [2, 2],
  );
  t.match(body.metadata.vlm.roles.planner, { calls: 0 });
});

t.test('probabilities that a model without log-probabilities leaves out become a classification', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, { environment: double.environment('anthropic') });
  double.play({ say: MERGED_ANSWER }, { say: { ...LEVELS_ANSWER, final_answer: 'a' } });
  const body = (await app.inject(await formRequest({ image, query: 'Rate this photo.' }))).json<Assessment>();
  t.equal(body.quality_score?.method, 'classification');
  t.ok((body.quality_score?.probabilities.Excellent ?? 0) > 0.5);
  t.match(
    body.summarizer_result?.quality_reasoning,
    /The model alone says excellent; together with the tools the level is good/,
  );
});

t.test('the same question about the same image is answered from the cache, and counted so', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, { environment: double.environment('openai') });
  double.play({ say: MERGED_ANSWER }, { say: LEVELS_ANSWER, levels: { Good: 1 } });
  const first = (await app.inject(await formRequest({ image, query: 'Rate this photo.' }))).json<Assessment>();
  const second = (await app.inject(await formRequest({ image, query: 'Rate this photo.' }))).json<Assessment>();
  t.match(second.metadata.vlm, { calls: 0, cache_hits: 2, cost_usd: 0 });
  t.strictSame(second.quality_score, first.quality_score);
});

t.test('more regions than a model takes images: calls side by side, each with its share', async (t) => {
  const double = await startProviderDouble(t);
  const { app } = await buildTestApp(t, { environment: { IQA_LOCAL_VLM_URL: `${double.url}/v1` }, adjust: oneImage });
  const names = ['cup', 'plate', 'fork'];
  let open = 0;
  let most = 0;
  double.play({
    say: {
      ...GLOBAL_PLAN_ANSWER,
      query_scope: names,
      distortions: names.map((object) => ({ object, categories: ['Blurs'] })),
    },
  });
  double.otherwise(async (request) => {
    const object = request.schema?.properties?.['distortion_analysis']?.items?.properties?.['object']?.enum?.[0];
    open += 1;
    most = Math.max(most, open);
    // Each waits for the others, but not for ever: calls that follow one another would never meet.
    for (let waited = 0; object && most < names.length && waited < 8_000; waited += 20) await delay(20);
    open -= 1;
    return {
      say: object
        ? { distortion_analysis: [{ object, type: 'Blurs', severity: 'slight', explanation: `Soft ${object}.` }] }
        : { ...LEVELS_ANSWER, final_answer: 'All a bit soft.' },
    };
  });
  const regions = JSON.stringify(names.map((name, index) => ({ name, box: [index * 80, 20, 70, 90] })));
  const body = (
    await app.inject(
      await formRequest({ image, query: 'Say, did cup, plate and fork come out fuzzy in this one?', regions }),
    )
  ).json<Assessment>();
  t.match(body.executor_evidence?.distortion_analysis, {
    cup: [{ explanation: 'Soft cup.' }],
    plate: [{ explanation: 'Soft plate.' }],
    fork: [{ explanation: 'Soft fork.' }],
  });
  t.equal(most, 3, 'all three at the same time');
  t.same(await sizesOf(double.seen.slice(1, 4).flatMap(({ images }) => images)), [
    [70, 90],
    [70, 90],
    [70, 90],
  ]);
});

const oneImage = (config: Config): Config => {
  const { backends } = config.models;
  const local = backends['qwen2.5-vl-local'];
  return {
    ...config,
    models: { ...config.models, backends: { ...backends, 'qwen2.5-vl-local': { ...local!, max_images: 1 } } },
  };
};

async function sizesOf(images: SeenRequest['images'] = []): Promise<number[][]> {
  return Promise.all(
    images.map(async ({ data }) => {
      const { width, height } = await sharp(data).metadata();
      return [width, height];
    }),
  );
}
