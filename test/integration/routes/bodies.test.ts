// Bodies of POST /assess: JSON requests, event streams, conditional requests, local maps, identical requests.
import sharp from 'sharp';
import t from 'tap';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import { AssessJsonRequest } from '../../../schemas/requests/assess.ts';
import type { Problem } from '../../../schemas/responses/problem.ts';
import { buildTestApp, formRequest, type FormFields } from '../../support/app.ts';
import { readEvents } from '../../support/events.ts';
import { makeImage } from '../../support/images/images.ts';

const { app, logs } = await buildTestApp(t);
const png = await makeImage({ width: 256, height: 256 }).png().toBuffer();
const blurred = await makeImage({ width: 256, height: 256 }).blur(3).png().toBuffer();
const base64 = png.toString('base64');

const postJson = (payload: object | string, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: '/assess', headers: { 'content-type': 'application/json', ...headers }, payload });
const postForm = async (fields: FormFields, headers: Record<string, string> = {}) => {
  const request = await formRequest(fields);
  return app.inject({ ...request, headers: { ...request.headers, ...headers } });
};
/** The answer without ids and timings. */
function withoutIds({ id, metadata, executor_evidence, diagnostics, ...rest }: Assessment) {
  return {
    ...rest,
    findings: diagnostics.findings,
    scores: executor_evidence?.quality_scores,
    versions: metadata.versions,
    tools: diagnostics.tools.map(({ cached, ...tool }) => tool),
  };
}

t.test('the same question as JSON and as a form has the same answer', async (t) => {
  const question = {
    query: 'Is it blurry?',
    max_replan_iterations: 1,
    choices: ['Yes', 'No'],
    regions: [{ name: 'middle', box: [50, 50, 150, 150] }],
    prior_context: { turn: 1 },
  };
  const json = await postJson({ image: { base64: blurred.toString('base64') }, reference: { base64 }, ...question });
  t.equal(json.statusCode, 200, json.body);
  const form = await postForm({
    image: blurred,
    reference: png,
    query: question.query,
    max_replan_iterations: '1',
    choices: JSON.stringify(question.choices),
    regions: JSON.stringify(question.regions),
    prior_context: JSON.stringify(question.prior_context),
  });
  t.strictSame(withoutIds(json.json()), withoutIds(form.json()));
  t.equal(json.headers['etag'], form.headers['etag']);
});

t.test('invalid JSON bodies are refused with a clear message', async (t) => {
  const cases: [string, object | string, number, RegExp][] = [
    ['no image', { query: 'How is it?' }, 422, /image/],
    ['image as text', { image: base64 }, 422, /image/],
    ['a path instead of an image', { image: { base64: '/etc/passwd' } }, 422, /standard base64/],
    ['a wrong alphabet', { image: { base64: 'abc-_w==' } }, 422, /standard base64/],
    ['a data URL', { image: { base64: `data:image/png;base64,${base64}` } }, 422, /standard base64/],
    ['a URL', { image: { url: 'http://127.0.0.1/x.png' } }, 422, /url|base64/],
    ['not an image', { image: { base64: Buffer.from('hello').toString('base64') } }, 422, /first bytes/],
    ['blank query', { image: { base64 }, query: ' ' }, 422, /query/],
    ['unknown field', { image: { base64 }, colour: 'red' }, 422, /colour/],
    ['no JSON', '{"image":', 400, /malformed/],
    ['an array', '[]', 422, /object/],
    ['poisoned prototype', '{"image":{"base64":"aaaa"},"__proto__":{"admin":true}}', 400, /malformed/],
    [
      'nested too deep',
      `{"image":{"base64":"aaaa"},"prior_context":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
      422,
      /levels of nesting/,
    ],
  ];
  for (const [name, payload, status, detail] of cases) {
    const response = await postJson(payload);
    t.match(response.json<Problem>(), { status, detail }, name);
    t.match(response.headers['content-type'], /^application\/problem\+json/);
  }
});

t.test('the documented examples work unchanged', async (t) => {
  const { examples } = AssessJsonRequest as unknown as { examples: object[] };
  t.ok(examples.length >= 2);
  for (const example of examples) {
    const response = await postJson(example);
    t.equal(response.statusCode, 200, response.body);
    t.ok(response.json<Assessment>().quality_score, 'with a score');
  }
});

t.test('a stream: named events for every stage and tool, cached or not, and the result last', async (t) => {
  const image = await makeImage({ width: 256, height: 256, seed: 77 }).png().toBuffer();
  for (const cached of [false, true]) {
    const response = await postForm({ image }, { accept: 'text/event-stream' });
    t.equal(response.statusCode, 200);
    t.match(response.headers['content-type'], /^text\/event-stream/);
    const events = readEvents(response.body);
    t.equal(events[0]?.event, 'accepted');
    const stages = events
      .filter(({ event }) => event === 'stage')
      .map(({ data }) => `${String(data['stage'])} ${String(data['status'])}`);
    t.strictSame(stages, [
      'planner started',
      'planner finished',
      'executor started',
      'executor finished',
      'summarizer started',
      'summarizer finished',
    ]);
    const plan = events.find(({ data }) => data['stage'] === 'planner' && data['status'] === 'finished');
    t.match(plan?.data['output'], { query_type: 'IQA' });
    const last = events.at(-1);
    t.equal(last?.event, 'result');
    const result = last?.data as unknown as Assessment;
    t.equal(result.id, events[0]?.data['id']);
    const tools = events.filter(({ event }) => event === 'tool').map(({ data }) => data);
    t.strictSame(
      tools.map((tool) => tool['tool_name']),
      result.diagnostics.tools.map((tool) => tool.tool_name),
    );
    t.ok(tools.length > 0 && tools.every((tool) => tool['cached'] === cached), `cached: ${cached}`);
  }
});

t.test('a refusal before the run starts is an ordinary problem, also for a stream', async (t) => {
  for (const fields of [
    { image: Buffer.from('not an image') },
    { image: png, query: ' ' },
    { image: png, reference: await makeImage({ width: 64, height: 64 }).png().toBuffer() },
  ]) {
    const response = await postForm(fields, { accept: 'text/event-stream' });
    t.equal(response.statusCode, 422);
    t.match(response.headers['content-type'], /^application\/problem\+json/);
  }
});

t.test('ETag: equal for equal inputs, different otherwise; If-None-Match avoids the run', async (t) => {
  const first = await postForm({ image: png });
  const etag = String(first.headers['etag']);
  t.match(etag, /^W\/"[0-9a-f]{32}"$/);
  t.equal(
    (await postForm({ image: png, query: 'How is the overall quality of this image?', max_replan_iterations: '2' }))
      .headers['etag'],
    etag,
    'explicit defaults',
  );
  const others = [
    { image: blurred },
    { image: png, query: 'Is it noisy?' },
    { image: png, reference: png },
    { image: png, max_replan_iterations: '0' },
    { image: png, maps: 'NIQE' },
  ];
  for (const fields of others) t.not((await postForm(fields)).headers['etag'], etag, Object.keys(fields).join());
  const unchanged = await postForm({ image: png }, { 'if-none-match': `"other", ${etag}` });
  t.match(unchanged.json<Problem>(), { status: 412, code: 'IQA_INPUT_UNCHANGED' });
  t.equal(unchanged.headers['etag'], etag);
  t.equal((await postForm({ image: png }, { 'if-none-match': '"other"' })).statusCode, 200);
  const degraded = await postForm({ image: png, query: 'Use SSIM.' });
  t.ok(degraded.json<Assessment>().metadata.degraded);
  t.equal(degraded.headers['etag'], undefined, 'a degraded answer may be better next time');
});

t.test('identical concurrent requests are computed once; each keeps its own request id', async (t) => {
  const image = await makeImage({ width: 512, height: 384, seed: 99 }).png().toBuffer();
  const before = logs.length;
  const responses = await Promise.all(
    Array.from({ length: 5 }, (_, index) => postForm({ image }, { 'x-request-id': `twin-${index}` })),
  );
  const answers = responses.map((response) => response.json<Assessment>());
  t.equal(new Set(answers.map((answer) => answer.id)).size, 1);
  t.strictSame(
    answers.map((answer) => answer.metadata.request_id),
    [0, 1, 2, 3, 4].map((index) => `twin-${index}`),
  );
  const planned = logs.slice(before).filter((line) => line['msg'] === 'Stage finished' && line['stage'] === 'planner');
  t.equal(planned.length, 1);
});

t.test('local maps: available ones are returned as images, missing ones are noted', async (t) => {
  const answer = (await postForm({ image: blurred, reference: png, maps: '["SSIM","PSNR"]' })).json<Assessment>();
  t.match(answer.diagnostics.maps, [
    { tool_name: 'SSIM', object_name: 'Global', media_type: /^image\//, width: Number, height: Number, base64: String },
  ]);
  t.equal(answer.diagnostics.maps.length, 1);
  t.ok(
    answer.diagnostics.notes.some((note) => note.startsWith('No map of PSNR')),
    answer.diagnostics.notes.join(),
  );
  const unknown = await postForm({ image: png, maps: 'NOPE' });
  t.match(unknown.json<Problem>(), {
    status: 422,
    detail: /Expected names of tools for maps \(PSNR, .*blockiness\) but received "NOPE"/,
  });
});

t.test('blur, noise and blockiness have maps without a reference', async (t) => {
  const { diagnostics } = (
    await postForm({ image: blurred, maps: '["blur","Noise","blockiness","edge_width_px","SSIM"]' })
  ).json<Assessment>();
  t.strictSame(
    diagnostics.maps.map((map) => map.tool_name),
    ['edge_width_px', 'noise_sigma', 'blockiness'],
    'each once, in the requested order',
  );
  for (const { base64, width, height } of diagnostics.maps)
    t.match(await sharp(Buffer.from(base64, 'base64')).metadata(), { format: 'png', width, height });
  t.ok(
    diagnostics.notes.includes('No map of SSIM: Expected a reference image for SSIM but received none'),
    diagnostics.notes.join(),
  );
});
