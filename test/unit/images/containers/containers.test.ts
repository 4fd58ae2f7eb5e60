// Containers are stripped to the image: metadata, previews, appended files and trailers are dropped, and the pixels stay the same bytes.
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import t from 'tap';
import { withSegment } from '../../../support/images/metadata-blocks.ts';
import { makeImage } from '../../../support/images/images.ts';
import { pngChunk, withChunk } from '../../../support/images/png-files.ts';
import { prepare } from '../../../support/images/prepared.ts';

const SECRET = 'SECRET-7f3a';
const photo = () => makeImage({ width: 64, height: 48 });
const jpeg = await photo().jpeg({ progressive: true }).toBuffer();
const png = await photo().png().toBuffer();
const webp = await photo().webp().toBuffer();
const lossless = await photo().webp({ lossless: true }).toBuffer();
const withSecrets = (image: Sharp) =>
  image
    .withExif({
      IFD0: { Artist: SECRET, Copyright: SECRET },
      IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '52/1 31/1 0/1', GPSAreaInformation: SECRET },
    })
    .withXmp(
      `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="${SECRET}"/></rdf:RDF></x:xmpmeta>`,
    );
const secret = Buffer.from(SECRET);

t.test('plain files pass through unchanged', async (t) => {
  for (const file of [jpeg, await photo().jpeg().toBuffer(), png, webp, lossless]) {
    const { image } = await prepare(t, file);
    t.equal(image.sha256, image.info.sha256);
    t.ok(file.equals(await readFile(image.path)));
  }
});

t.test('everything but the image is dropped, and the pixels do not change', async (t) => {
  const trailer = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), secret, gzipSync(Buffer.alloc(1_000))]);
  const cases: [string, Buffer, Buffer][] = [
    ['JPEG with EXIF and XMP', await withSecrets(photo()).jpeg({ progressive: true }).toBuffer(), jpeg],
    ['JPEG with a comment', withSegment(jpeg, 0xfe, secret), jpeg],
    [
      'JPEG with a JFXX preview',
      withSegment(jpeg, 0xe0, Buffer.concat([Buffer.from('JFXX\0\x10', 'latin1'), secret])),
      jpeg,
    ],
    [
      'JPEG with IPTC',
      withSegment(jpeg, 0xed, Buffer.concat([Buffer.from('Photoshop 3.0\0', 'latin1'), secret])),
      jpeg,
    ],
    ['JPEG before a ZIP archive', Buffer.concat([jpeg, trailer]), jpeg],
    ['JPEG before another JPEG', Buffer.concat([jpeg, jpeg, secret]), jpeg],
    ['PNG with EXIF and XMP', await withSecrets(photo()).png().toBuffer(), png],
    [
      'PNG with texts',
      withChunk(
        png,
        pngChunk('tEXt', Buffer.concat([Buffer.from('Author\0', 'latin1'), secret])),
        pngChunk('tIME', Buffer.from([7, 0xea, 11, 17, 5, 0, 0])),
      ),
      png,
    ],
    ['PNG with a private chunk', withChunk(png, pngChunk('prVt', secret)), png],
    ['PNG before a PDF', Buffer.concat([png, Buffer.from('%PDF-1.7'), secret]), png],
    ['WebP with EXIF and XMP', await withSecrets(photo()).webp().toBuffer(), webp],
    ['lossless WebP with EXIF and XMP', await withSecrets(photo()).webp({ lossless: true }).toBuffer(), lossless],
    ['WebP before an archive', Buffer.concat([webp, trailer]), webp],
  ];
  for (const [name, file, plain] of cases) {
    t.ok(file.includes(secret), `${name}: the secret is in there`);
    const { image, pixels } = await prepare(t, file);
    const sent = await readFile(image.path);
    t.notOk(sent.includes(secret) || sent.includes('Exif') || sent.includes('PK\x03\x04'), name);
    t.equal(image.bytes, sent.length);
    t.strictSame(image.info.notes, []);
    t.equal(Buffer.compare(pixels, await sharp(plain).raw().toBuffer()), 0, `${name}: the same pixels`);
  }
});

t.test('re-encoded files carry no metadata either', async (t) => {
  for (const [name, encode] of Object.entries({
    jpeg: (image: Sharp) => image.jpeg(),
    tiff: (image: Sharp) => image.tiff(),
    avif: (image: Sharp) => image.avif({ effort: 0 }),
  })) {
    const file = await encode(withSecrets(photo().withMetadata({ orientation: 3 }))).toBuffer();
    t.ok(file.includes(secret), name);
    const { image } = await prepare(t, file);
    t.notOk((await readFile(image.path)).includes(secret), name);
  }
});

t.test('a file truncated anywhere is refused', async (t) => {
  for (const [name, file] of Object.entries({ jpeg, png, webp, lossless })) {
    for (let tenth = 1; tenth < 10; tenth += 1) {
      await t.rejects(
        prepare(t, file.subarray(0, Math.floor((file.length * tenth) / 10))),
        { code: 'IQA_INPUT_IMAGE' },
        `${name} ${tenth}/10`,
      );
    }
    await t.rejects(
      prepare(t, file.subarray(0, -1)),
      { code: 'IQA_INPUT_IMAGE', message: /ends before the image does/ },
      `${name} without its last byte`,
    );
  }
});

t.test('inconsistent containers are refused', async (t) => {
  const extended = await withSecrets(photo()).webp().toBuffer();
  t.equal(extended.toString('latin1', 12, 16), 'VP8X');
  const wrongWidth = Buffer.from(extended);
  wrongWidth.writeUIntLE(31, 24, 3);
  await t.rejects(prepare(t, wrongWidth), { code: 'IQA_INPUT_IMAGE', message: /cannot be decoded/ });
  const cases: [string, Buffer, RegExp][] = [
    [
      'PNG whose header comes second',
      Buffer.concat([png.subarray(0, 8), pngChunk('tEXt', Buffer.from('a\0b')), png.subarray(8)]),
      /header is not at the beginning/,
    ],
    ['PNG with two headers', withChunk(png, png.subarray(8, 33)), /header is not at the beginning/],
    ['PNG with an unknown critical chunk', withChunk(png, pngChunk('EVIL', Buffer.alloc(4))), /needs a chunk \(EVIL\)/],
    ['PNG with no chunk at all', Buffer.concat([png.subarray(0, 33), Buffer.alloc(40, 1)]), /are not contiguous/],
    ['WebP without an image', Buffer.from('RIFF\x0c\0\0\0WEBPXMP \0\0\0\0', 'latin1'), /contains no image/],
    ['JPEG with a segment without length', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xd9]), /has no length/],
  ];
  for (const [name, file, why] of cases)
    await t.rejects(prepare(t, file), { code: 'IQA_INPUT_IMAGE', message: why }, name);
});
