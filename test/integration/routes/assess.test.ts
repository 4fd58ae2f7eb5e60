// POST /assess on the real app and the real sidecar: answers, limits, refusals.
import { readdirSync } from 'node:fs';
import sharp from 'sharp';
import t from 'tap';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import type { Problem } from '../../../schemas/responses/problem.ts';
import { buildTestApp, formRequest, type FormFields } from '../../support/app.ts';
import { makeImage } from '../../support/images/images.ts';
import { registry } from '../../support/run.ts';
import { until } from '../../support/system/service.ts';

const { app, logs, spool } = await buildTestApp(t);
const clean = await makeImage().jpeg({ quality: 95 }).toBuffer();
const blurred = await makeImage().blur(4).png().toBuffer();
const original = await makeImage().png().toBuffer();

async function assess(fields: FormFields): Promise<Assessment> {
  const response = await app.inject(await formRequest(fields));
  if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${response.body}`);
  return response.json();
}

async function refuse(fields: FormFields): Promise<Problem & { contentType: string }> {
  const response = await app.inject(await formRequest(fields));
  return { ...response.json<Problem>(), contentType: String(response.headers['content-type']) };
}

t.test(
  'the default query ends with tools run, a score and a level, and the body fits the published schema',
  async (t) => {
    const assessment = await assess({ image: clean });
    t.equal(assessment.query, 'How is the overall quality of this image?');
    t.equal(assessment.summarizer_result?.final_answer, assessment.quality_score?.level);
    t.match(assessment, {
      image: { width: 512, height: 384, format: 'jpeg', notes: [] },
      reference: null,
      error: null,
      iteration_count: 0,
      max_replan_iterations: 2,
      plan: { query_type: 'IQA', query_scope: 'Global', reference_mode: 'No-Reference' },
      quality_score: { method: 'distribution' },
      metadata: { reasoner: { kind: 'embedded', model: null }, degraded: false, degraded_reason: null },
    });
    const schema = (await app.inject('/schemas/Assessment')).json<object>();
    const validate = new Ajv2020({ strict: false }).addVocabulary([]);
    formats.default(validate);
    t.ok(validate.validate(schema, assessment), JSON.stringify(validate.errors));
  },
);

t.test('no server path and no file name ever appears', async (t) => {
  const text = JSON.stringify(await assess({ image: { data: clean, filename: 'holiday-secret.jpg' } }));
  t.notMatch(text, /holiday-secret|image_path|request-|agentic-iqa-\d/);
});

t.test('a blurred image scores lower than its original, and the first finding is blur', async (t) => {
  const good = await assess({ image: original });
  const bad = await assess({ image: blurred });
  t.ok((bad.quality_score?.value ?? 5) < (good.quality_score?.value ?? 0));
  t.equal(bad.diagnostics.findings[0]?.distortion, 'Blurs');
  t.match(bad.summarizer_result?.quality_reasoning, /blur[.:] .*edges are \d/i);
});

t.test('with a reference, full-reference tools are used', async (t) => {
  const assessment = await assess({ image: blurred, reference: original });
  t.equal(assessment.plan?.reference_mode, 'Full-Reference');
  t.match(assessment.reference, { width: 512, height: 384, format: 'png' });
  const tools = assessment.diagnostics.tools.map((tool) => tool.tool_name);
  const fullReference = registry.rows.filter((row) => row.type === 'FR' && !row.on_request).map((row) => row.name);
  t.ok(
    tools.every((tool) => fullReference.includes(tool)),
    tools.join(),
  );
});

t.test('a named tool runs for every distortion of the set although selection is skipped', async (t) => {
  const assessment = await assess({ image: clean, query: 'Use BRISQUE to assess this image.' });
  t.match(assessment.plan, { required_tool: 'BRISQUE', plan: { tool_selection: false, tool_execution: true } });
  t.equal(assessment.executor_evidence?.selected_tools, null);
  t.ok(assessment.executor_evidence?.tool_logs.every((log) => log.tool_name === 'BRISQUE'));
  const detected = assessment.executor_evidence?.distortion_set?.['Global'] ?? [];
  t.strictSame(Object.keys(assessment.executor_evidence?.quality_scores?.['Global'] ?? {}), detected);
});

t.test('a full-reference tool without a reference fails in the log and a no-reference tool replaces it', async (t) => {
  const assessment = await assess({ image: clean, query: 'Is the image noisy? Use SSIM.' });
  const [failed, fallback] = assessment.executor_evidence?.tool_logs ?? [];
  t.match(failed, { tool_name: 'SSIM', raw_score: null, normalized_score: null, fallback: false, error: /reference/ });
  t.match(fallback, { fallback: true, error: null, normalized_score: Number });
  t.match(assessment.metadata, { degraded: true, degraded_reason: /in place of SSIM/ });
});

t.test('an object without a box: the answer covers the whole image, says so, and does not replan', async (t) => {
  const assessment = await assess({ image: blurred, query: 'Is the vehicle blurry?' });
  t.strictSame(assessment.plan?.query_scope, ['vehicle']);
  t.strictSame(Object.keys(assessment.executor_evidence?.distortion_analysis ?? {}), ['Global']);
  t.match(assessment.summarizer_result, {
    final_answer: /^Yes: .* blur/,
    need_replan: false,
    quality_reasoning: /No box was given for vehicle/,
  });
  t.equal(assessment.quality_score, null);
  t.match(assessment.diagnostics.notes, [/No box was given for vehicle/, /No score/]);
});

t.test('an object with a box is measured in its box', async (t) => {
  const half = await makeImage()
    .composite([
      {
        input: await makeImage().blur(5).extract({ left: 0, top: 0, width: 256, height: 384 }).png().toBuffer(),
        left: 0,
        top: 0,
      },
    ])
    .png()
    .toBuffer();
  const ask = (box: number[]) =>
    assess({ image: half, query: 'Is the vehicle blurry?', regions: JSON.stringify([{ name: 'vehicle', box }]) });
  const left = await ask([0, 0, 250, 384]);
  const right = await ask([262, 0, 250, 384]);
  t.strictSame(Object.keys(left.executor_evidence?.distortion_analysis ?? {}), ['vehicle']);
  t.match(left.summarizer_result?.final_answer, /^Yes/);
  t.match(right.summarizer_result?.final_answer, /^(No|Slightly)/);
});

t.test('multiple choice is answered with a letter', async (t) => {
  const inQuery = await assess({
    image: blurred,
    query: 'Which distortion is most apparent?\nA. Noise\nB. Blur\nC. Overexposure',
  });
  t.equal(inQuery.summarizer_result?.final_answer, 'B');
  const inField = await assess({
    image: blurred,
    query: 'Which distortion is most apparent?',
    choices: '["JPEG artifacts", "Noise", "Blur"]',
  });
  t.equal(inField.summarizer_result?.final_answer, 'C');
  const repeated = new FormData();
  repeated.append('image', new Blob([new Uint8Array(blurred)]), 'x.png');
  repeated.append('query', 'Which distortion is most apparent?');
  for (const choice of ['Noise', 'Blur']) repeated.append('choices', choice);
  // What Swagger UI sends for what was left out.
  for (const field of ['reference', 'regions', 'prior_context', 'max_replan_iterations', 'align'])
    repeated.append(field, '');
  const encoded = new Response(repeated);
  const response = await app.inject({
    method: 'POST',
    url: '/assess',
    headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
    payload: Buffer.from(await encoded.arrayBuffer()),
  });
  t.equal(response.json<Assessment>().summarizer_result?.final_answer, 'B');
});

t.test('a question about taste gets an answer without evidence that says so', async (t) => {
  const assessment = await assess({ image: clean, query: 'Does this picture make you feel sad?' });
  t.match(assessment, {
    plan: { query_type: 'Other' },
    quality_score: null,
    summarizer_result: { need_replan: false, quality_reasoning: /vision-language model/ },
    executor_evidence: {
      distortion_set: null,
      distortion_analysis: null,
      selected_tools: null,
      quality_scores: null,
      tool_logs: [],
    },
  });
});

t.test('positive and negative options are distinguished', async (t) => {
  const questions: [string, string, string][] = [
    ['How sharp is this image? A. Very sharp B. Slightly blurry C. Very blurry', 'A', 'C'],
    ['Which fits? A. Sharp B. Blurry', 'A', 'B'],
    ['Which fits? A) crisp B) out of focus', 'A', 'B'],
    ['Which is true? A. The image is not blurry B. The image is blurry', 'A', 'B'],
    ['Is it sharp? A. Yes B. No', 'A', 'B'],
    ['Is it blurry? A. Yes B. No', 'B', 'A'],
    ['How blurry is it? A. low B. medium C. high', 'A', 'C'],
  ];
  for (const [query, whenSharp, whenBlurred] of questions) {
    t.equal((await assess({ image: original, query })).summarizer_result?.final_answer, whenSharp, `sharp: ${query}`);
    t.equal(
      (await assess({ image: blurred, query })).summarizer_result?.final_answer,
      whenBlurred,
      `blurred: ${query}`,
    );
  }
});

t.test('a question about one distortion is not answered by another, and does not replan because of it', async (t) => {
  for (const query of ['Is it too dark?', 'Is it too bright?', 'Does the image have a color cast?']) {
    const assessment = await assess({ image: blurred, query });
    t.match(assessment.summarizer_result, { final_answer: /^(No|Slightly)/, need_replan: false }, query);
    t.equal(assessment.iteration_count, 0);
  }
});

t.test('images without structure get no score', async (t) => {
  for (const shade of [0, 119, 255]) {
    const flat = await sharp({
      create: { width: 400, height: 300, channels: 3, background: { r: shade, g: shade, b: shade } },
    })
      .png()
      .toBuffer();
    const assessment = await assess({ image: flat });
    t.equal(assessment.quality_score, null, String(shade));
    t.ok(assessment.executor_evidence?.tool_logs.every((log) => log.normalized_score === null));
  }
});

t.test(
  'an image too small for the best tool is scored by a tool that accepts it, which is not a degradation',
  async (t) => {
    const { metadata, diagnostics } = await assess({
      image: await makeImage({ width: 40, height: 40 }).png().toBuffer(),
    });
    t.strictSame(
      diagnostics.tools.map(({ tool_name }) => tool_name),
      ['BRISQUE'],
    );
    t.equal(metadata.degraded, false);
  },
);

t.test('an explanation locates the main distortion; a rating does not', async (t) => {
  const explained = await assess({ image: blurred, reference: original, query: 'What is wrong with this image?' });
  t.match(explained.diagnostics.findings[0], { distortion: 'Blurs', place: { where: String, map: 'MDSI' } });
  t.match(
    explained.summarizer_result?.quality_reasoning,
    /blur( all over the image|, most visible |, in several places)/,
  );
  const alone = await assess({ image: blurred, query: 'Where is the blur?' });
  t.match(alone.diagnostics.findings[0]?.place, { map: 'edge_width_px' });
  t.match(alone.summarizer_result?.final_answer, /blur( all over the image|, most visible |, in several places)/);
  const rated = await assess({ image: blurred, reference: original, query: 'Rate the quality of this photo.' });
  t.ok(rated.diagnostics.findings.every(({ place }) => place === null));
});

t.test('a region that could not be measured gets no verdict', async (t) => {
  const { summarizer_result, diagnostics } = await assess({
    image: blurred,
    query: 'Is the ball sharp?',
    regions: '[{"name":"ball","box":[0,0,8,8]}]',
  });
  t.ok(
    diagnostics.notes.some((note) =>
      note.startsWith('Nothing could be measured in the box of ball: its 8 × 8 pixels are too few'),
    ),
    diagnostics.notes.join(),
  );
  t.equal(summarizer_result?.final_answer, 'Unable to determine');
});

t.test('a question that is not understood gets the overall quality and a note, never a yes or no', async (t) => {
  for (const query of ['Ist das Bild unscharf?', 'asdf qwer zxcv?', 'Is this image safe for work?']) {
    const { summarizer_result, quality_score, diagnostics } = await assess({ image: clean, query });
    t.ok((diagnostics.plan_confidence ?? 1) < 0.5, `${query}: confidence ${diagnostics.plan_confidence ?? 'unknown'}`);
    t.equal(summarizer_result?.final_answer, quality_score?.level, query);
    t.match(summarizer_result?.quality_reasoning, /not understood/);
  }
});

t.test('object names may equal names of Object.prototype', async (t) => {
  for (const name of ['constructor', 'toString', 'hasOwnProperty', '__proto__']) {
    const assessment = await assess({
      image: clean,
      query: `What is the NIQE of the ${name}?`,
      regions: JSON.stringify([{ name, box: [0, 0, 300, 300] }]),
    });
    const scored = Object.values(assessment.executor_evidence?.quality_scores ?? {}).some(
      (scores) => Object.keys(scores).length > 0,
    );
    t.ok(scored, name);
  }
  t.equal(
    ({} as Record<string, unknown>)['Blurs'] ?? ({} as Record<string, unknown>)['Noise'],
    undefined,
    'Object.prototype is unchanged',
  );
});

t.test('a repeated request uses cached tool results and has the same answer', async (t) => {
  const png = await makeImage({ seed: 77 }).blur(1).png().toBuffer();
  const first = await assess({ image: png });
  const second = await assess({ image: png });
  t.ok(first.metadata.cache.misses > 0);
  t.equal(second.metadata.cache.misses, 0);
  t.ok(second.diagnostics.tools.every((tool) => tool.cached));
  t.strictSame(second.quality_score, first.quality_score);
  t.strictSame(second.summarizer_result, first.summarizer_result);
});

t.test('refusals: each with its own code and message', async (t) => {
  const cases: [string, FormFields, Partial<Record<keyof Problem, unknown>>][] = [
    [
      'no image',
      { query: 'Rate it.' },
      { status: 422, code: 'IQA_INPUT_INVALID', detail: 'Expected a file for image but received none' },
    ],
    ['blank query', { image: clean, query: '   ' }, { status: 422, detail: /non-blank string.*\/query/ }],
    [
      'text where a file belongs',
      { image: '/etc/passwd' },
      { status: 422, detail: 'Expected a file for image but received text' },
    ],
    ['unknown field', { image: clean, colour: 'red' }, { status: 422, detail: /Unexpected \/colour/ }],
    [
      'unknown file field',
      { image: clean, mask: clean },
      { status: 422, detail: /files only for image and reference/ },
    ],
    ['limit too high', { image: clean, max_replan_iterations: '11' }, { status: 422, detail: /integer from 0 to 10/ }],
    [
      'limit no number',
      { image: clean, max_replan_iterations: 'many' },
      { status: 422, detail: /integer from 0 to 10.*"many"/ },
    ],
    ['choices no JSON', { image: clean, choices: '[a, b' }, { status: 422, detail: /JSON for choices/ }],
    [
      'nested too deep',
      { image: clean, prior_context: `${'['.repeat(45_000)}${']'.repeat(45_000)}` },
      { status: 422, detail: /32 levels of nesting for prior_context/ },
    ],
    [
      'nested too deep, as JSON',
      { image: clean, regions: `${'['.repeat(45_000)}${']'.repeat(45_000)}` },
      { status: 422, detail: /32 levels/ },
    ],
    ['one choice', { image: clean, choices: 'Blur' }, { status: 422, detail: /2 to 26 items.*\/choices/ }],
    ['regions no JSON', { image: clean, regions: 'car' }, { status: 422, detail: /JSON for regions/ }],
    [
      'unknown back end',
      { image: clean, backend: 'oracle' },
      {
        status: 422,
        detail:
          /^Expected one of auto, embedded, openai\.gpt-4o \(needs OPENAI_API_KEY\), .* for backend but received "oracle"$/,
      },
    ],
    [
      'box outside',
      { image: clean, regions: '[{"name":"car","box":[500,0,50,50]}]' },
      { status: 422, detail: /inside the image of 512 × 384/ },
    ],
    ['empty file', { image: Buffer.alloc(0) }, { status: 422, code: 'IQA_INPUT_IMAGE', detail: /empty/ }],
    ['no image bytes', { image: Buffer.from('hello, I am a text file') }, { status: 422, code: 'IQA_INPUT_IMAGE' }],
    [
      'SVG',
      { image: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>') },
      { status: 415, detail: /Render it to PNG/ },
    ],
    ['PDF', { image: Buffer.from('%PDF-1.7\n') }, { status: 415, code: 'IQA_INPUT_MEDIA_TYPE' }],
    ['truncated JPEG', { image: clean.subarray(0, clean.length - 500) }, { status: 422, code: 'IQA_INPUT_IMAGE' }],
    [
      'truncated PNG',
      { image: original.subarray(0, original.length >> 1) },
      { status: 422, code: 'IQA_INPUT_IMAGE', detail: /ends before the image does/ },
    ],
    ['damaged inside', { image: damage(original) }, { status: 422, code: 'IQA_INPUT_IMAGE' }],
    [
      'other size',
      { image: clean, reference: await makeImage({ width: 300, height: 200 }).png().toBuffer() },
      { status: 422, code: 'IQA_INPUT_SIZE_MISMATCH', detail: /512 × 384.*300 × 200/ },
    ],
  ];
  for (const [name, fields, expected] of cases) {
    const problem = await refuse(fields);
    t.match(
      problem,
      { ...expected, contentType: /^application\/problem\+json/, request_id: String, title: String, type: String },
      name,
    );
  }
});

t.test('align=resize resizes the reference and notes it', async (t) => {
  const assessment = await assess({
    image: clean,
    reference: await makeImage({ width: 256, height: 192 }).png().toBuffer(),
    align: 'resize',
  });
  t.match(assessment.reference, { width: 256, height: 192, notes: [/resized from 256 × 192 to 512 × 384/] });
});

t.test('limits on bytes, pixels, files and fields', async (t) => {
  const { app: small } = await buildTestApp(t, {
    environment: { IQA_MAX_UPLOAD_BYTES: '20000', IQA_MAX_PIXELS: '100000' },
  });
  const problem = async (fields: FormFields) => (await small.inject(await formRequest(fields))).json<Problem>();
  t.match(await problem({ image: clean }), { status: 413, code: 'IQA_INPUT_TOO_LARGE', detail: /at most 0\.02 MB/ });
  const flat = await makeImage({ width: 500, height: 400 }).resize(500, 400).blur(20).jpeg({ quality: 30 }).toBuffer();
  t.match(await problem({ image: flat }), { status: 413, detail: /at most 0\.1 megapixels.*500 × 400/ });
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`field${index}`, 'x']));
  t.match(await refuse({ image: clean, ...many }), { status: 413, detail: /more (fields|parts)/ });
  t.match(await refuse({ image: clean, query: 'x'.repeat(200_000) }), {
    status: 413,
    detail: /at most 100000 bytes for query/,
  });
  t.match(await refuse({ image: clean, query: 'x'.repeat(30_000) }), {
    status: 422,
    detail: /at most 20000 characters/,
  });
  t.match(await refuse({ image: clean, ['n'.repeat(5_000)]: 'x' }), { status: 413, detail: /field names/ });
});

t.test('other content types and broken forms', async (t) => {
  const text = await app.inject({
    method: 'POST',
    url: '/assess',
    headers: { 'content-type': 'text/plain' },
    payload: 'image',
  });
  t.match(text.json(), {
    status: 415,
    code: 'IQA_INPUT_MEDIA_TYPE',
    detail: /Expected multipart\/form-data or application\/json but received text\/plain/,
  });
  const noBoundary = await app.inject({
    method: 'POST',
    url: '/assess',
    headers: { 'content-type': 'multipart/form-data' },
    payload: 'x',
  });
  t.ok(noBoundary.statusCode >= 400 && noBoundary.statusCode < 500);
  const cut = await formRequest({ image: clean });
  const body = cut.payload as Buffer;
  const broken = await app.inject({ ...cut, payload: body.subarray(0, body.length - 200) });
  t.ok(broken.statusCode >= 400 && broken.statusCode < 500, broken.body);
});

t.test('safe request ids are kept, and every log line has one', async (t) => {
  const request = await formRequest({ image: clean });
  const response = await app.inject({ ...request, headers: { ...request.headers, 'x-request-id': 'my-request.1' } });
  t.equal(response.headers['x-request-id'], 'my-request.1');
  t.equal(response.json<Assessment>().metadata.request_id, 'my-request.1');
  const stages = logs.filter((line) => line['request_id'] === 'my-request.1' && line['msg'] === 'Stage finished');
  t.match(
    stages,
    ['planner', 'executor', 'summarizer'].map((stage) => ({ stage, stage_ms: Number })),
  );
  const evil = await app.inject({ ...request, headers: { ...request.headers, 'x-request-id': 'a b\u00e9{}' } });
  t.match(evil.headers['x-request-id'], /^[0-9a-f-]{36}$/);
});

t.test('the spool is empty after the requests', async (t) => {
  await until(() => readdirSync(spool.dir).length === 0);
  t.pass('empty');
});

/** Overwrites bytes in the middle: the length stays, the pixels are damaged. */
function damage(file: Buffer): Buffer {
  const copy = Buffer.from(file);
  copy.fill(0x55, file.length >> 1, (file.length >> 1) + 300);
  return copy;
}
