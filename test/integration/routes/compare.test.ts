// POST /compare on the real sidecar: ranking, reasons, forms and JSON, refusals.
import { readdirSync } from 'node:fs';
import t from 'tap';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import { CompareJsonRequest } from '../../../schemas/requests/compare.ts';
import { Comparison } from '../../../schemas/responses/comparison.ts';
import { parse } from '../../../schemas/validation/model.ts';
import type { Problem } from '../../../schemas/responses/problem.ts';
import { buildTestApp, compareRequest, formRequest, type ComparedFiles } from '../../support/app.ts';
import { makeImage } from '../../support/images/images.ts';
import { until } from '../../support/system/service.ts';

const { app, spool } = await buildTestApp(t, { environment: { IQA_MAX_UPLOAD_BYTES: '1000000' } });
const make = (change: (image: ReturnType<typeof makeImage>) => ReturnType<typeof makeImage>) =>
  change(makeImage({ width: 256, height: 256 }))
    .png()
    .toBuffer();
const clean = await make((image) => image);
const soft = await make((image) => image.blur(2.5));
const blurred = await make((image) => image.blur(8));

const post = async (files: ComparedFiles, fields: Record<string, string> = {}) =>
  app.inject(await compareRequest(files, fields));
const postJson = (payload: object | string) =>
  app.inject({ method: 'POST', url: '/compare', headers: { 'content-type': 'application/json' }, payload });
const base64 = (image: Buffer) => ({ base64: image.toString('base64') });

t.test('three versions of an image with their original: ranked, each pair with its reasons', async (t) => {
  const response = await post({ images: [blurred, clean, soft], reference: clean });
  t.equal(response.statusCode, 200, response.body);
  const comparison = response.json<Comparison>();
  t.doesNotThrow(() => parse(Comparison, comparison));
  t.strictSame(
    comparison.ranking.map(({ number }) => number),
    [2, 3, 1],
  );
  t.strictSame(
    comparison.ranking.map(({ rank }) => rank),
    [1, 2, 3],
  );
  t.equal(comparison.best, 2);
  t.match(comparison.verdict, /^Image 2 is the best\. By score: image 2 \(\w+, [\d.]+\), image 3 .*, image 1 /);
  t.strictSame(
    comparison.pairs.map(({ images }) => images),
    [
      [2, 3],
      [2, 1],
      [3, 1],
    ],
  );
  const worst = comparison.pairs[1];
  t.match(worst, { better: 2, too_close: false, verdict: /^Image 2 is better than image 1: / });
  t.ok((worst?.probability ?? 0) > 0.95);
  t.match(worst?.reasons[0], /^Blurs: (severe|extreme) in image 1, (none|not noticed|slight) in image 2\. .*px/);
  t.match(worst?.reasons.at(-1), / rates image 2 as [\d.]+ \([\d.e-]+\) and image 1 as /);
  t.equal(comparison.reference?.width, 256);
  t.equal(comparison.rule.decided_at, 0.8);
});

t.test('each image is one assessment: score, findings and answer equal those of POST /assess', async (t) => {
  const { ranking } = (await post({ images: [blurred, clean] })).json<Comparison>();
  for (const { number, quality_score: score, findings, final_answer: answer, id } of ranking) {
    const alone = (await app.inject(await formRequest({ image: number === 1 ? blurred : clean }))).json<Assessment>();
    t.strictSame(score, alone.quality_score);
    t.strictSame(findings, alone.diagnostics.findings.slice(0, 3));
    t.equal(answer, alone.summarizer_result?.final_answer);
    t.match(id, /^[0-9a-f-]{36}$/);
  }
});

t.test('the same file twice is too close to call, however narrow the intervals are', async (t) => {
  const { best, pairs, ranking, verdict } = (await post({ images: [clean, clean] })).json<Comparison>();
  t.equal(best, null);
  t.match(pairs, [
    { better: null, too_close: true, probability: 0.5, difference: 0, reasons: ['The two files are the same.'] },
  ]);
  t.strictSame(
    ranking.map(({ number, too_close_to: close }) => [number, close]),
    [
      [1, [2]],
      [2, [1]],
    ],
  );
  t.match(verdict, /^It is too close to call between images 1 and 2\./);
});

t.test('JSON and form agree, eight images are accepted, and the order of the request does not matter', async (t) => {
  const images = await Promise.all([0.4, 0.8, 1.2, 1.6, 2, 3, 4, 6].map((sigma) => make((image) => image.blur(sigma))));
  const form = (await post({ images: images, reference: clean })).json<Comparison>();
  const json = (await postJson({ images: images.map(base64), reference: base64(clean) })).json<Comparison>();
  const turned = (await post({ images: images.toReversed(), reference: clean })).json<Comparison>();
  const scores = ({ ranking }: Comparison) =>
    ranking.map(({ image, quality_score: score }) => [image.sha256, score?.value]);
  t.equal(form.pairs.length, 28);
  t.strictSame(scores(json), scores(form));
  t.strictSame(scores(turned), scores(form));
  t.ok(form.ranking[0]?.number !== 8 && form.ranking.at(-1)?.number === 8, 'the most blurred is last');
});

t.test('a question that names a distortion: only that is examined, and a note says so', async (t) => {
  const { notes, ranking } = (
    await post({ images: [blurred, clean] }, { query: 'How blurry is it?' })
  ).json<Comparison>();
  t.match(notes.join(' '), /names Blurs/);
  t.ok(ranking.every(({ findings }) => findings.every(({ distortion }) => distortion === 'Blurs')));
});

t.test('images without scores cannot be ranked, and the verdict says so', async (t) => {
  const { best, ranking, pairs, verdict } = (
    await post({ images: [blurred, clean] }, { query: 'What mood does this image have?' })
  ).json<Comparison>();
  t.strictSame(
    ranking.map(({ rank, number }) => [rank, number]),
    [
      [null, 1],
      [null, 2],
    ],
  );
  t.equal(best, null);
  t.match(pairs, [
    { better: null, too_close: false, probability: null, verdict: 'There is no score for images 1 and 2.' },
  ]);
  t.match(verdict, /cannot be ranked/);
});

t.test('invalid input is a 4xx that names the image', async (t) => {
  const text = Buffer.from('this is not an image');
  const small = await makeImage({ width: 128, height: 128 }).png().toBuffer();
  const damaged = Buffer.concat([
    clean.subarray(0, clean.length / 2),
    Buffer.alloc(200),
    clean.subarray(clean.length / 2 + 200),
  ]);
  const noise = Buffer.alloc(700_000, 'x');
  const cases: [string, Parameters<typeof post>, number, RegExp][] = [
    ['one image', [{ images: [clean] }], 422, /from 2 to 8 items for \/images/],
    ['none', [{ images: [] }], 422, /images/],
    ['nine', [{ images: Array.from({ length: 9 }, () => soft) }], 413, /at most 8 files for images/],
    ['ten and a reference', [{ images: Array.from({ length: 10 }, () => soft), reference: clean }], 413, /files/],
    ['the second is text', [{ images: [clean, text] }], 422, /images\[1\]/],
    ['the third is damaged', [{ images: [clean, soft, damaged] }], 422, /images\[2\]/],
    ['two are wrong: the first is named', [{ images: [text, text] }], 422, /images\[0\]/],
    ['the reference is text', [{ images: [clean, soft], reference: text }], 422, /reference/],
    [
      'a reference of another size',
      [{ images: [clean, small], reference: clean }],
      422,
      /128 × 128 pixels, the size of images\[1\], but received 256 × 256/,
    ],
    ['an image too large', [{ images: [clean, Buffer.alloc(1_000_001)] }], 413, /at most 1 MB for images\[1\]/],
    ['too large together', [{ images: [noise, noise, noise] }], 413, /at most 2 MB for all files together/],
    ['a field of assessments', [{ images: [clean, soft] }, { maps: 'SSIM' }], 422, /maps/],
    ['blank query', [{ images: [clean, soft] }, { query: ' ' }], 422, /query/],
    [
      'text instead of a file',
      [{ images: [clean, soft] }, { images: '/etc/passwd' }],
      422,
      /Expected a file for images but received text/,
    ],
    [
      'unknown back end',
      [{ images: [clean, soft] }, { backend: 'unknown' }],
      422,
      /for backend but received "unknown"/,
    ],
  ];
  for (const [name, [files, fields], status, detail] of cases) {
    const response = await post(files, fields);
    t.match(response.json<Problem>(), { status, detail, code: /^IQA_INPUT_/ }, name);
    t.match(response.headers['content-type'], /^application\/problem\+json/, name);
  }
  const json: [string, object | string, RegExp][] = [
    ['one', { images: [base64(clean)] }, /images/],
    ['nine', { images: Array.from({ length: 9 }, () => base64(soft)) }, /images/],
    ['no base64', { images: [base64(clean), { base64: '/etc/passwd' }] }, /images\[1\]\.base64/],
    ['no file', { images: [base64(clean), base64(text)] }, /images\[1\]/],
    ['a URL', { images: [base64(clean), { url: 'http://127.0.0.1/' }] }, /images\/1/],
  ];
  for (const [name, payload, detail] of json)
    t.match((await postJson(payload)).json<Problem>(), { status: 422, detail }, name);
  await until(() => readdirSync(spool.dir).length === 0);
});

t.test('align=resize accepts a reference of another size', async (t) => {
  const small = await makeImage({ width: 256, height: 256 }).resize(128, 128).png().toBuffer();
  const response = await post({ images: [clean, small], reference: clean }, { align: 'resize' });
  t.equal(response.statusCode, 200, response.body);
  t.match(response.json<Comparison>().notes.join(' '), /differ in size/);
});

t.test('the documented examples work unchanged; other methods are 405, other content types 415', async (t) => {
  for (const example of (CompareJsonRequest as unknown as { examples: object[] }).examples) {
    const response = await postJson(example);
    t.equal(response.statusCode, 200, response.body);
    t.ok(
      response.json<Comparison>().ranking.every(({ quality_score: score }) => score !== null),
      'with scores',
    );
  }
  t.equal((await app.inject('/compare')).statusCode, 405);
  t.equal(
    (await app.inject({ method: 'POST', url: '/compare', headers: { 'content-type': 'text/plain' }, payload: 'x' }))
      .statusCode,
    415,
  );
});
