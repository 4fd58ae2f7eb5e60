// The decoding policy: which files pass through, which are converted and noted, which are refused.
import { readdirSync } from 'node:fs';
import { Readable } from 'node:stream';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { prepareImage, resizeImage } from '../../../src/images/prepare-image.ts';
import { readJpegQuality } from '../../../src/images/jpeg-quality.ts';
import { createSpool, EDGE_BYTES } from '../../../src/uploads/spool.ts';
import { withSegment } from '../../support/images/metadata-blocks.ts';
import { createRandom, makeImage } from '../../support/images/images.ts';

const LIMITS = { maxPixels: 50_000_000 };
const photo = () => makeImage({ width: 64, height: 48 });

async function prepare(t: Test, file: Buffer) {
  const spool = await createSpool(t.testdir());
  const session = spool.open();
  t.teardown(() => spool.close());
  const image = await prepareImage(await session.write(Readable.from([file])), 'image', session, LIMITS);
  return { image, session, sent: sharp(image.path) };
}

t.test('plain 8-bit sRGB JPEG, PNG and WebP pass through unchanged', async (t) => {
  for (const [format, file] of [
    ['jpeg', await photo().jpeg().toBuffer()],
    ['png', await photo().png().toBuffer()],
    ['webp', await photo().webp().toBuffer()],
  ] as const) {
    const { image } = await prepare(t, file);
    t.match(image.info, { format, width: 64, height: 48, bytes: file.length, notes: [] });
    t.equal(image.sha256, image.info.sha256, 'the same bytes');
    await t.resolves(image.verify());
  }
});

t.test('everything else is converted to plain 8-bit sRGB, and the notes say why', async (t) => {
  const cases: [string, Buffer, RegExp[]][] = [
    [
      'orientation',
      await photo().withMetadata({ orientation: 6 }).jpeg({ quality: 60 }).toBuffer(),
      [/rotated upright \(EXIF orientation 6\)/],
    ],
    ['alpha', await photo().ensureAlpha(0.5).png().toBuffer(), [/alpha channel flattened onto white/]],
    ['16 bits', await photo().toColourspace('rgb16').png().toBuffer(), [/8 bits/]],
    ['foreign profile', await photo().withIccProfile('p3').jpeg().toBuffer(), [/colour profile/]],
    ['CMYK', await photo().toColourspace('cmyk').jpeg().toBuffer(), [/CMYK/]],
    ['AVIF', await photo().avif({ effort: 0 }).toBuffer(), [/decoded from AVIF/]],
    ['TIFF', await photo().tiff().toBuffer(), [/decoded from TIFF/]],
    ['GIF', await photo().gif().toBuffer(), [/decoded from GIF/]],
  ];
  for (const [name, file, notes] of cases) {
    const { image, sent } = await prepare(t, file);
    for (const note of notes)
      t.ok(
        image.info.notes.some((text) => note.test(text)),
        `${name}: ${image.info.notes.join(', ')}`,
      );
    t.match(
      await sent.metadata(),
      { format: 'png', depth: 'uchar', space: 'srgb', channels: 3, hasAlpha: false },
      name,
    );
    t.not(image.sha256, image.info.sha256);
  }
});

t.test('an upright size, and the JPEG quality of a file that was re-encoded', async (t) => {
  const { image, sent } = await prepare(
    t,
    await photo().withMetadata({ orientation: 6 }).jpeg({ quality: 60 }).toBuffer(),
  );
  t.match(image.info, { width: 48, height: 64 });
  t.match(await sent.metadata(), { width: 48, height: 64 });
  t.equal(image.jpegQuality, 60);
});

t.test('transparent pixels are measured over white', async (t) => {
  const clear = await sharp({
    create: { width: 16, height: 16, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
  })
    .png()
    .toBuffer();
  const { sent } = await prepare(t, clear);
  t.ok((await sent.raw().toBuffer()).every((value) => value === 255));
});

t.test('greyscale passes through with a note', async (t) => {
  const { image } = await prepare(t, await photo().toColourspace('b-w').png().toBuffer());
  t.match(image.info.notes, [/grey/]);
  t.equal(image.sha256, image.info.sha256);
});

t.test('a reference is resized on demand', async (t) => {
  const { image, session } = await prepare(t, await photo().png().toBuffer());
  const resized = await resizeImage(image, { width: 128, height: 96 }, session);
  t.match(await sharp(resized.path).metadata(), { width: 128, height: 96 });
  t.match(resized.info, { width: 64, height: 48, notes: [/resized from 64 × 48 to 128 × 96/] });
});

t.test('JPEG quality is read from the tables for every setting', async (t) => {
  for (const quality of [1, 10, 25, 50, 75, 90, 100])
    t.equal(readJpegQuality(await photo().jpeg({ quality }).toBuffer()), quality);
  t.equal(readJpegQuality(Buffer.from([0xff, 0xd8, 0xff, 0xdb, 0, 4, 0, 1])), null, 'a table that ends early');
  t.equal(readJpegQuality(Buffer.from([0xff, 0xd8, 0xff, 0xff, 0xd9])), null);
});

t.test('a truncated JPEG is detected by decoding it; one with a long trailer is complete', async (t) => {
  const file = await makeImage({ width: 200, height: 150 }).jpeg().toBuffer();
  for (const share of [0.3, 0.7, 0.95, 0.999]) {
    const cut = file.subarray(0, Math.floor(file.length * share));
    await t.rejects(prepare(t, cut), { code: 'IQA_INPUT_IMAGE', message: /ends before the image does/ }, String(share));
    const { image } = await prepare(t, Buffer.concat([cut, Buffer.from([0xff, 0xd9])]));
    await t.rejects(
      image.verify(),
      { code: 'IQA_INPUT_IMAGE', message: /damaged or ends too early/ },
      `${share} with an end marker`,
    );
  }
  const { image } = await prepare(t, Buffer.concat([file, Buffer.alloc(200_000, 7)]));
  await t.resolves(image.verify());
});

t.test('the spool keeps the first and last bytes of a stream, whatever its chunk sizes', async (t) => {
  const spool = await createSpool(t.testdir());
  t.teardown(() => spool.close());
  const data = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
  for (const size of [1_000, 65_536, 70_000, 200_000]) {
    const chunks = Array.from({ length: Math.ceil(data.length / size) }, (_, index) =>
      data.subarray(index * size, (index + 1) * size),
    );
    const session = spool.open();
    const { head, tail, bytes } = await session.write(Readable.from(chunks));
    t.equal(bytes, data.length);
    t.ok(head.equals(data.subarray(0, EDGE_BYTES)) && tail.equals(data.subarray(-EDGE_BYTES)));
    await session.close();
  }
  t.strictSame(readdirSync(spool.dir), []);
});

t.test('JPEG damage that libjpeg repairs silently is refused; benign irregularities are not', async (t) => {
  const file = await makeImage({ width: 400, height: 300 }).jpeg({ quality: 85 }).toBuffer();
  const random = createRandom(11);
  const scan = file.indexOf(Buffer.from([0xff, 0xda])) + 20;
  let refused = 0;
  for (let round = 0; round < 20; round += 1) {
    const damaged = Buffer.from(file);
    const at = scan + Math.floor(random() * (file.length - scan - 700));
    for (let index = 0; index < 600; index += 1) damaged[at + index] = Math.floor(random() * 256);
    refused += await prepare(t, damaged)
      .then(({ image }) => image.verify())
      .then(
        () => 0,
        (error: unknown) => {
          t.match(error, { code: 'IQA_INPUT_IMAGE' });
          return 1;
        },
      );
  }
  t.ok(refused >= 18, `${refused} of 20`);
  const jfif = (revision: number) =>
    withSegment(file, 0xe0, Buffer.from(`JFIF\0${String.fromCharCode(revision)}\x01\x01\0\x48\0\x48\0\0`, 'latin1'));
  const insert = (...bytes: number[]) =>
    Buffer.concat([jfif(1).subarray(0, 20), Buffer.from(bytes), jfif(1).subarray(20)]);
  const benign: [string, Buffer][] = [
    ['stray bytes between segments', insert(1, 2, 3)],
    ['fill bytes', insert(0xff, 0xff, 0xff)],
    ['another JFIF revision', jfif(9)],
    ['zeros after the pixels', Buffer.concat([file.subarray(0, -2), Buffer.alloc(6), file.subarray(-2)])],
  ];
  for (const [name, irregular] of benign) {
    const { image } = await prepare(t, irregular);
    await t.resolves(image.verify(), name);
    const decoded = await sharp(image.path, { failOn: 'none' }).raw().toBuffer();
    t.equal(Buffer.compare(decoded, await sharp(file).raw().toBuffer()), 0, name);
  }
});

t.test('the JPEG quality is found behind large application segments', async (t) => {
  let file: Buffer = await photo().withMetadata({ orientation: 3 }).jpeg({ quality: 42 }).toBuffer();
  for (let round = 0; round < 3; round += 1) file = withSegment(file, 0xed, Buffer.alloc(60_000, round));
  const { image } = await prepare(t, file);
  t.equal(image.jpegQuality, 42);
});

t.test('unsupported pixel formats are 415, with advice', async (t) => {
  const float = await sharp(
    Float32Array.from({ length: 16 * 16 * 3 }, (_, index) => index / 768),
    { raw: { width: 16, height: 16, channels: 3 } },
  )
    .toColourspace('scrgb')
    .tiff({ compression: 'none' })
    .toBuffer();
  await t.rejects(prepare(t, float), {
    code: 'IQA_INPUT_MEDIA_TYPE',
    message: /Expected 8 or 16 bits per channel \(tone-map it first\) for image but received 3 × float/,
  });
});
