// What is sent on is the picture alone: metadata, previews, foreign files and trailers stay behind, and the pixels are the same bytes.
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import t from 'tap';
import { withSegment } from '../../../support/metadata-blocks.ts';
import { makePicture } from '../../../support/images.ts';
import { pngChunk, withChunk } from '../../../support/png-files.ts';
import { prepare } from '../../../support/prepared.ts';

const SECRET = 'SECRET-7f3a';
const picture = () => makePicture({ width: 64, height: 48 });
const jpeg = await picture().jpeg({ progressive: true }).toBuffer();
const png = await picture().png().toBuffer();
const webp = await picture().webp().toBuffer();
const lossless = await picture().webp({ lossless: true }).toBuffer();
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

t.test('plain files go through as the very same bytes', async (t) => {
  for (const file of [jpeg, await picture().jpeg().toBuffer(), png, webp, lossless]) {
    const { image } = await prepare(t, file);
    t.equal(image.sha256, image.info.sha256);
    t.ok(file.equals(await readFile(image.path)));
  }
});

t.test('everything beside the picture stays behind, and the picture stays what it was', async (t) => {
  const trailer = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), secret, gzipSync(Buffer.alloc(1_000))]);
  const cases: [string, Buffer, Buffer][] = [
    ['JPEG with EXIF and XMP', await withSecrets(picture()).jpeg({ progressive: true }).toBuffer(), jpeg],
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
    ['PNG with EXIF and XMP', await withSecrets(picture()).png().toBuffer(), png],
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
    ['WebP with EXIF and XMP', await withSecrets(picture()).webp().toBuffer(), webp],
    ['lossless WebP with EXIF and XMP', await withSecrets(picture()).webp({ lossless: true }).toBuffer(), lossless],
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

t.test('what is re-encoded carries nothing along either', async (t) => {
  for (const [name, encode] of Object.entries({
    jpeg: (image: Sharp) => image.jpeg(),
    tiff: (image: Sharp) => image.tiff(),
    avif: (image: Sharp) => image.avif({ effort: 0 }),
  })) {
    const file = await encode(withSecrets(picture().withMetadata({ orientation: 3 }))).toBuffer();
    t.ok(file.includes(secret), name);
    const { image } = await prepare(t, file);
    t.notOk((await readFile(image.path)).includes(secret), name);
  }
});

t.test('a file cut anywhere is refused', async (t) => {
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
      { code: 'IQA_INPUT_IMAGE', message: /ends before the picture does/ },
      `${name} without its last byte`,
    );
  }
});

t.test('containers that lie about their picture are refused', async (t) => {
  const extended = await withSecrets(picture()).webp().toBuffer();
  t.equal(extended.toString('latin1', 12, 16), 'VP8X');
  const lying = Buffer.from(extended);
  lying.writeUIntLE(31, 24, 3);
  await t.rejects(prepare(t, lying), { code: 'IQA_INPUT_IMAGE', message: /cannot be decoded/ });
  const cases: [string, Buffer, RegExp][] = [
    [
      'PNG whose header comes second',
      Buffer.concat([png.subarray(0, 8), pngChunk('tEXt', Buffer.from('a\0b')), png.subarray(8)]),
      /header does not stand at the beginning/,
    ],
    ['PNG with two headers', withChunk(png, png.subarray(8, 33)), /header does not stand/],
    ['PNG with an unknown critical chunk', withChunk(png, pngChunk('EVIL', Buffer.alloc(4))), /needs a chunk \(EVIL\)/],
    ['PNG with no chunk at all', Buffer.concat([png.subarray(0, 33), Buffer.alloc(40, 1)]), /do not follow each other/],
    ['WebP without a picture', Buffer.from('RIFF\x0c\0\0\0WEBPXMP \0\0\0\0', 'latin1'), /contains no picture/],
    ['JPEG with a segment without length', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xd9]), /has no length/],
  ];
  for (const [name, file, why] of cases)
    await t.rejects(prepare(t, file), { code: 'IQA_INPUT_IMAGE', message: why }, name);
});
