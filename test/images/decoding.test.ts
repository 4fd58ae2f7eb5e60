// The decoding policy: which files go to the sidecar as they are, what is normalised and said, what is refused.
import { readdirSync } from 'node:fs';
import { Readable } from 'node:stream';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { prepareImage, resizeTo } from '../../src/images/decoding.ts';
import { isComplete } from '../../src/images/completeness.ts';
import { readJpegQuality } from '../../src/images/jpeg-quality.ts';
import { sniff } from '../../src/images/sniffing.ts';
import { createSpool, KEPT_BYTES } from '../../src/images/spool.ts';
import { makePicture } from '../support/pictures.ts';

const LIMITS = { maxPixels: 50_000_000 };
const picture = () => makePicture({ width: 64, height: 48 });

async function prepare(t: Test, file: Buffer) {
  const spool = await createSpool(t.testdir());
  const session = spool.open();
  t.teardown(() => spool.close());
  const image = await prepareImage(await session.write(Readable.from([file])), 'image', session, LIMITS);
  return { image, session, sent: sharp(image.path) };
}

t.test('plain 8-bit sRGB JPEG, PNG and WebP go through as the original bytes', async (t) => {
  for (const [format, file] of [['jpeg', await picture().jpeg().toBuffer()], ['png', await picture().png().toBuffer()], ['webp', await picture().webp().toBuffer()], ['jpeg', await picture().withIccProfile('srgb').jpeg().toBuffer()]] as const) {
    const { image } = await prepare(t, file);
    t.match(image.info, { format, width: 64, height: 48, bytes: file.length, notes: [] });
    t.equal(image.sha256, image.info.sha256, 'the very same bytes');
    await t.resolves(image.verify());
  }
});

t.test('everything else becomes plain 8-bit sRGB, and the notes say why', async (t) => {
  const cases: [string, Buffer, RegExp[]][] = [
    ['orientation', await picture().withMetadata({ orientation: 6 }).jpeg({ quality: 60 }).toBuffer(), [/turned upright \(EXIF orientation 6\)/]],
    ['alpha', await picture().ensureAlpha(0.5).png().toBuffer(), [/alpha channel laid over white/]],
    ['16 bits', await picture().toColourspace('rgb16').png().toBuffer(), [/8 bits/]],
    ['foreign profile', await picture().withIccProfile('p3').jpeg().toBuffer(), [/colour profile/]],
    ['CMYK', await picture().toColourspace('cmyk').jpeg().toBuffer(), [/CMYK/]],
    ['AVIF', await picture().avif({ effort: 0 }).toBuffer(), [/decoded from AVIF/]],
    ['TIFF', await picture().tiff().toBuffer(), [/decoded from TIFF/]],
    ['GIF', await picture().gif().toBuffer(), [/decoded from GIF/]],
  ];
  for (const [name, file, notes] of cases) {
    const { image, sent } = await prepare(t, file);
    for (const note of notes) t.ok(image.info.notes.some((text) => note.test(text)), `${name}: ${image.info.notes.join(', ')}`);
    t.match(await sent.metadata(), { format: 'png', depth: 'uchar', space: 'srgb', channels: 3, hasAlpha: false }, name);
    t.not(image.sha256, image.info.sha256);
  }
});

t.test('an upright size, and the JPEG quality of a file that was re-encoded', async (t) => {
  const { image, sent } = await prepare(t, await picture().withMetadata({ orientation: 6 }).jpeg({ quality: 60 }).toBuffer());
  t.match(image.info, { width: 48, height: 64 });
  t.match(await sent.metadata(), { width: 48, height: 64 });
  t.equal(image.jpegQuality, 60);
});

t.test('transparent pixels are measured over white', async (t) => {
  const clear = await sharp({ create: { width: 16, height: 16, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } }).png().toBuffer();
  const { sent } = await prepare(t, clear);
  t.ok((await sent.raw().toBuffer()).every((value) => value === 255));
});

t.test('grey stays as it is and is said so', async (t) => {
  const { image } = await prepare(t, await picture().toColourspace('b-w').png().toBuffer());
  t.match(image.info.notes, [/grey/]);
  t.equal(image.sha256, image.info.sha256);
});

t.test('a reference is resized on demand', async (t) => {
  const { image, session } = await prepare(t, await picture().png().toBuffer());
  const resized = await resizeTo(image, { width: 128, height: 96 }, session);
  t.match(await sharp(resized.path).metadata(), { width: 128, height: 96 });
  t.match(resized.info, { width: 64, height: 48, notes: [/resized from 64 × 48 to 128 × 96/] });
});

t.test('JPEG quality is read from the tables for every setting', async (t) => {
  for (const quality of [1, 10, 25, 50, 75, 90, 100]) t.equal(readJpegQuality(await picture().jpeg({ quality }).toBuffer()), quality);
  t.equal(readJpegQuality(Buffer.from([0xff, 0xd8, 0xff, 0xdb, 0, 4, 0, 1])), null, 'a table that ends early');
  t.equal(readJpegQuality(Buffer.from([0xff, 0xd8, 0xff, 0xff, 0xd9])), null);
});

t.test('a JPEG cut anywhere is found by decoding it; one with a long trailer is whole', async (t) => {
  const file = await makePicture({ width: 200, height: 150 }).jpeg().toBuffer();
  for (const share of [0.3, 0.7, 0.95, 0.999]) {
    const { image } = await prepare(t, file.subarray(0, Math.floor(file.length * share)));
    await t.rejects(image.verify(), { code: 'IQA_INPUT_IMAGE', message: /damaged or ends too early/ }, String(share));
  }
  const { image } = await prepare(t, Buffer.concat([file, Buffer.alloc(200_000, 7)]));
  await t.resolves(image.verify());
});

t.test('a file cut at any tenth, or by one byte, is incomplete', async (t) => {
  const ends = (file: Buffer) => ({ bytes: file.length, head: file, tail: file });
  for (const [format, file] of [['png', await picture().png().toBuffer()], ['webp', await picture().webp().toBuffer()]] as const) {
    for (let tenth = 1; tenth <= 10; tenth += 1) t.equal(isComplete(ends(file.subarray(0, Math.floor(file.length * tenth / 10))), format), tenth === 10, `${format} ${tenth}/10`);
    t.equal(isComplete(ends(file.subarray(0, -1)), format), false, `${format} without its last byte`);
  }
  t.equal(isComplete(ends(Buffer.alloc(3)), 'gif'), true, 'left to the decoder');
});

t.test('the spool keeps the first and last bytes of what passes by, however it is cut into chunks', async (t) => {
  const spool = await createSpool(t.testdir());
  t.teardown(() => spool.close());
  const data = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
  for (const size of [1_000, 65_536, 70_000, 200_000]) {
    const chunks = Array.from({ length: Math.ceil(data.length / size) }, (_, index) => data.subarray(index * size, (index + 1) * size));
    const session = spool.open();
    const { head, tail, bytes } = await session.write(Readable.from(chunks));
    t.equal(bytes, data.length);
    t.ok(head.equals(data.subarray(0, KEPT_BYTES)) && tail.equals(data.subarray(-KEPT_BYTES)));
    await session.close();
  }
  t.strictSame(readdirSync(spool.dir), []);
});

t.test('bytes decide what a file is', async (t) => {
  t.strictSame(sniff(await picture().avif({ effort: 0 }).toBuffer()), { format: 'avif' });
  for (const [bytes, name] of [['BM123456', 'BMP'], ['%PDF-1.4', 'PDF'], ['PK\x03\x04', 'an archive'], ['  <?xml version="1.0"?><svg/>', 'SVG or other markup'], ['\0\0\0\x18ftypheic', 'HEIC']] as const) {
    t.match(sniff(Buffer.from(bytes, 'latin1')), { refused: name, advice: String });
  }
  t.equal(sniff(Buffer.from('plain text')), null);
});
