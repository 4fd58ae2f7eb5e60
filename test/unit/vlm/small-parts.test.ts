// The small parts between a question and its answer: JSON in prose, waits, the circuit breaker, redaction, schemas for providers, pictures.
import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import t from 'tap';
import Type from 'typebox';
import type { PreparedImage } from '../../../src/images/prepare-image.ts';
import { backoffMs } from '../../../src/vlm/transport/backoff.ts';
import { createCircuitBreaker } from '../../../src/vlm/transport/circuit-breaker.ts';
import { extractJson } from '../../../src/vlm/json-extraction.ts';
import { createImageSource } from '../../../src/vlm/image-encoding.ts';
import { toProviderSchema } from '../../../src/vlm/providers/provider-schema.ts';
import { createRedactor, Secret } from '../../../src/vlm/transport/secret.ts';
import { makePicture } from '../../support/images.ts';

t.test('JSON is found bare, fenced and in prose; half of it is none', async (t) => {
  const found = { a: 1, b: '}' };
  for (const text of [
    '{"a":1,"b":"}"}',
    '\ufeff{"a":1,"b":"}"}',
    '```json\n{"a":1,"b":"}"}\n```',
    '```\n{"a":1,"b":"}"}```',
    'Well {this} is: {"a":1,"b":"}"} I think',
    'a } b {"a":1,"b":"}"}{"a":2}',
  ])
    t.same(extractJson(text), found, text);
  for (const text of [
    '',
    'none',
    '[1]',
    '7',
    'null',
    '{"a":1',
    '{"a":1,"b":"}',
    '{a:1}',
    '{"a":1,}',
    '{'.repeat(100_000),
  ])
    t.equal(extractJson(text), undefined, text.slice(0, 20));
  t.same(extractJson('{"a":"\\"}"}'), { a: '"}' });
  t.same(
    extractJson('<think>Perhaps {"a":2}? No.</think>\n{"a":1,"b":"}"}'),
    found,
    'what was thought aloud is not the answer',
  );
  t.equal(extractJson('{"a":'.repeat(400_000)), undefined);
});

t.test('waits grow, stay below the longest, keep what the provider asked', async (t) => {
  const settings = { first: 100, longest: 1_000 };
  t.same(
    [1, 2, 3, 9].map((attempt) => backoffMs(attempt, settings, undefined, () => 1)),
    [100, 200, 400, 1_000],
  );
  t.same(
    [1, 2].map((attempt) => backoffMs(attempt, settings, undefined, () => 0)),
    [50, 100],
    'half of it is chance',
  );
  t.equal(
    backoffMs(1, settings, 3_000, () => 0),
    3_000,
  );
  t.equal(
    backoffMs(1, settings, 0, () => 1),
    50,
  );
});

t.test('the circuit breaker opens, lets one call try, closes or stays open', async (t) => {
  let now = 0;
  const breaker = createCircuitBreaker({ failures: 2, pause: 100 }, () => now);
  breaker.onFailure();
  breaker.onSuccess();
  breaker.onFailure();
  t.equal(breaker.allow(), true, 'only failures in a row count');
  breaker.onFailure();
  t.equal(breaker.allow(), false);
  now = 100;
  t.same([breaker.allow(), breaker.allow()], [true, false], 'one probe at a time');
  breaker.onNeutral();
  t.equal(breaker.allow(), true, 'a probe that told nothing makes room for the next');
  breaker.onFailure();
  t.equal(breaker.allow(), false);
  now = 200;
  t.equal(breaker.allow(), true);
  breaker.onSuccess();
  t.same([breaker.allow(), breaker.allow()], [true, true]);
});

t.test('keys are taken out in every spelling', async (t) => {
  const key = 'pa$$/word+"1234"';
  const redact = createRedactor([new Secret(key)]);
  for (const text of [
    key,
    encodeURIComponent(key),
    JSON.stringify({ key }),
    Buffer.from(key).toString('base64'),
    'sk-abc***wxyz',
    'AIzaSyA1234567890',
  ]) {
    const cleaned = redact(`before ${text} after`);
    t.match(cleaned, /^before .*\(key\).* after$/, text);
    t.notOk(cleaned.includes('1234'));
  }
  const twice = encodeURIComponent(encodeURIComponent(key));
  const everyCharacter = Array.from(key, (character) => `%${character.charCodeAt(0).toString(16)}`).join('');
  const asUnicode = Array.from(
    key,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase().replace('U', 'u')}`,
  ).join('');
  const inBase64 = [1, 2, 3].map((length) => Buffer.from(`${'x'.repeat(length)}${key} and more`).toString('base64'));
  for (const text of [
    twice,
    everyCharacter,
    asUnicode,
    JSON.stringify(asUnicode),
    JSON.stringify(JSON.stringify({ key })),
    ...inBase64,
    Buffer.from(`user:${key}`).toString('base64url'),
  ]) {
    t.match(redact(`before ${text} after`), /^before .*\(key\).* after$/, text);
  }
  t.equal(redact('a sky-blue task-force'), 'a sky-blue task-force');
  for (const word of ['none', 'EMPTY', 'test'])
    t.equal(
      createRedactor([new Secret(word)])('{"severity":"none","a":"empty test"}'),
      '{"severity":"none","a":"empty test"}',
      'a word in place of a key takes out nothing',
    );
  t.equal(createRedactor([new Secret('sk-123')])('it is sk-123.'), 'it is (key).');
  t.equal(createRedactor([new Secret('a')])('banana'), 'banana', 'a key of one letter would take out everything');
});

t.test('schemas for providers: all required, nothing extra, no limits', async (t) => {
  const schema = Type.Object({
    level: Type.Enum(['a', 'b']),
    list: Type.Optional(Type.Array(Type.Object({ n: Type.Number({ minimum: 1 }) }), { minItems: 1 })),
    none: Type.Union([Type.String({ pattern: 'x' }), Type.Null()]),
  });
  t.strictSame(toProviderSchema(schema), {
    type: 'object',
    required: ['level', 'list', 'none'],
    additionalProperties: false,
    properties: {
      level: { type: 'string', enum: ['a', 'b'] },
      list: {
        type: 'array',
        items: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'], additionalProperties: false },
      },
      none: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
  });
  t.strictSame(
    toProviderSchema(Type.Literal('only')),
    { type: 'string', enum: ['only'] },
    'not every provider knows constants',
  );
});

t.test(
  'pictures: small ones as they are, large ones scaled down, crops at full resolution, each made once',
  async (t) => {
    const file = (name: string) => `${t.testdirName}/${name}`;
    t.testdir();
    const prepared = async (name: string, width: number, height: number): Promise<PreparedImage> => {
      const { size } = await makePicture({ width, height }).jpeg({ quality: 90 }).toFile(file(name));
      return {
        path: file(name),
        field: 'image',
        bytes: size,
        sha256: name,
        jpegQuality: null,
        verify: () => Promise.resolve(),
        info: { sha256: name, width, height, format: 'jpeg', bytes: size, notes: [] },
      };
    };
    const settings = { long_side: 256, crop_long_side: 200 };
    const small = createImageSource(await prepared('small.jpg', 200, 100), null, settings);
    const whole = await small.whole();
    t.ok(
      Buffer.from(whole.base64, 'base64').equals(
        await sharp(file('small.jpg'))
          .toBuffer()
          .then(async () => (await import('node:fs/promises')).readFile(file('small.jpg'))),
      ),
      'the very bytes, never scaled up',
    );
    t.equal(await small.whole(), whole, 'made once');
    t.equal(await small.reference(), null);
    const large = createImageSource(
      await prepared('large.jpg', 640, 320),
      await prepared('reference.jpg', 640, 320),
      settings,
    );
    t.match(await large.whole(), { width: 256, height: 128, mediaType: 'image/jpeg' });
    t.match(await large.reference(), { width: 256, height: 128, label: /reference/ });
    const crop = await large.crop({ name: 'ball', box: [10, 20, 100, 50] });
    t.match(crop, { width: 100, height: 50, mediaType: 'image/png', label: /"ball"/ });
    const { data } = await sharp(file('large.jpg'))
      .extract({ left: 10, top: 20, width: 100, height: 50 })
      .raw()
      .toBuffer({ resolveWithObject: true });
    t.ok((await sharp(Buffer.from(crop.base64, 'base64')).raw().toBuffer()).equals(data), 'not a pixel changed');
    t.match(await large.crop({ name: 'wide', box: [0, 0, 400, 100] }), { width: 200, height: 50 });
    const noise = await prepared('noise.png', 8, 8);
    await sharp(randomBytes(1_600 * 1_600 * 3), { raw: { width: 1_600, height: 1_600, channels: 3 } })
      .png({ compressionLevel: 0 })
      .toFile(noise.path);
    const heavy = await createImageSource(noise, null, { long_side: 256, crop_long_side: 2_048 }).crop({
      name: 'all',
      box: [0, 0, 1_600, 1_600],
    });
    t.match(
      heavy,
      { width: 1_600, height: 1_600, mediaType: 'image/jpeg' },
      'a crop whose PNG no provider takes keeps its size and becomes JPEG',
    );
    t.ok(heavy.base64.length < 5_000_000);
    const broken = createImageSource(
      { ...(await prepared('gone.jpg', 640, 320)), path: file('nothing.jpg') },
      null,
      settings,
    );
    await t.rejects(broken.whole(), { code: 'IQA_INPUT_IMAGE' });
  },
);
