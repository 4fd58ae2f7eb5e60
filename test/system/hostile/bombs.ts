// Small files that want a lot: of memory, of time, of recursion.
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { makeBmp } from '../../support/images/bmp-files.ts';
import { makeProfile, withProfile, withSegment } from '../../support/images/metadata-blocks.ts';
import { PNG_SIGNATURE, pngChunk, pngHeader, u32, withChunk } from '../../support/images/png-files.ts';
import type { BaseFiles } from './base-files.ts';
import type { HostileFile } from './files.ts';
import { makeTiff } from './tiff-files.ts';

/** Zeros are compressed once: the largest of the streams below are parts of the same image. */
const zeros = (bytes: number): Buffer => deflateSync(Buffer.alloc(bytes), { level: 9 });

export async function makeBombs(base: BaseFiles): Promise<HostileFile[]> {
  const refused = (entries: Record<string, Buffer>) =>
    Object.entries(entries).map(([name, data]): HostileFile => ({ name: `bomb/${name}`, data, expect: 'refused' }));
  const any = (entries: Record<string, Buffer>) =>
    Object.entries(entries).map(([name, data]): HostileFile => ({ name: `bomb/${name}`, data }));
  return [
    ...refused(tooManyPixels(base)),
    ...any(await narrowImages()),
    ...any(pngBombs(base)),
    ...any(jpegBombs(base)),
    ...any(tiffBombs()),
    ...any(gifBombs()),
    ...any(exifBombs(base)),
    ...any(profileBombs(base)),
    ...any(await flatImages()),
  ];
}

function tooManyPixels(base: BaseFiles): Record<string, Buffer> {
  const pixels = zeros(40_000_000);
  const jpeg = Buffer.from(base['baseline.jpg']);
  const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
  jpeg.writeUInt32BE(0xffdcffdc, frame + 5);
  const webp = Buffer.from(base['lossless.webp']);
  webp.writeUInt32LE((16_382 | (16_382 << 14)) >>> 0, 21);
  const runs = makeBmp({ width: 1, height: 1, pixels: Buffer.alloc(3), palette: [[0, 0, 0]], bits: 8, coding: 'rle' });
  runs.writeInt32LE(60_000, 18);
  runs.writeInt32LE(60_000, 22);
  const gif = Buffer.concat([
    Buffer.from('GIF89a\xff\xff\xff\xff\x80\0\0', 'latin1'),
    Buffer.alloc(6),
    Buffer.from([0x2c, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 2, 2, 0x4c, 1, 0, 0x3b]),
  ]);
  return {
    'PNG of 30000 × 30000': Buffer.concat([
      PNG_SIGNATURE,
      pngHeader(30_000, 30_000, 1, 0),
      pngChunk('IDAT', pixels),
      pngChunk('IEND'),
    ]),
    'PNG of 2³¹ − 1 squared': Buffer.concat([
      PNG_SIGNATURE,
      pngHeader(0x7fffffff, 0x7fffffff, 16, 6),
      pngChunk('IDAT', pixels),
      pngChunk('IEND'),
    ]),
    'PNG, interlaced, 40000 × 40000': Buffer.concat([
      PNG_SIGNATURE,
      pngChunk('IHDR', Buffer.concat([u32(40_000), u32(40_000), Buffer.from([1, 0, 0, 0, 1])])),
      pngChunk('IDAT', pixels),
      pngChunk('IEND'),
    ]),
    'JPEG of 65500 × 65500': jpeg,
    'WebP of 16383 × 16383': webp,
    'GIF of 65535 × 65535': gif,
    'BMP, run lengths, 60000 × 60000': runs,
    'TIFF of 60000 × 60000': makeTiff({ width: 60_000, height: 60_000, compression: 8, data: pixels }),
    'TIFF of 2³² − 1 squared': makeTiff({ width: 0xffffffff, height: 0xffffffff, compression: 8, data: pixels }),
  };
}

/** 1 × 60,000 and 60,000 × 1: few pixels, strange sides. */
async function narrowImages(): Promise<Record<string, Buffer>> {
  const entries = await Promise.all(
    [
      [1, 60_000],
      [60_000, 1],
      [3, 20_000],
      [1, 1],
      [2, 2],
    ].map(async ([width = 1, height = 1]) => {
      const create = () => sharp({ create: { width, height, channels: 3, background: 'teal' } });
      const size = `${width} × ${height}`;
      return Object.entries({
        [`JPEG of ${size}`]: await create().jpeg().toBuffer(),
        [`PNG of ${size}`]: await create().png().toBuffer(),
        [`TIFF of ${size}`]: await create().tiff().toBuffer(),
        [`GIF of ${size}`]: await create().gif().toBuffer(),
        [`BMP of ${size}`]: makeBmp({ width, height, pixels: Buffer.alloc(3 * width * height, 90) }),
        ...(Math.max(width, height) < 16_384
          ? {
              [`WebP of ${size}`]: await create().webp().toBuffer(),
              [`AVIF of ${size}`]: await create().avif({ effort: 0 }).toBuffer(),
            }
          : {}),
      });
    }),
  );
  return Object.fromEntries(entries.flat());
}

/** Within the limits, from next to nothing. */
async function flatImages(): Promise<Record<string, Buffer>> {
  const create = () => sharp({ create: { width: 1_500, height: 1_500, channels: 3, background: 'black' } });
  return {
    'flat PNG': await create().png().toBuffer(),
    'flat WebP': await create().webp({ lossless: true }).toBuffer(),
    'flat GIF': await create().gif().toBuffer(),
    'flat TIFF': await create().tiff({ compression: 'deflate' }).toBuffer(),
    'flat AVIF': await create().avif({ effort: 0 }).toBuffer(),
    'flat BMP': makeBmp({
      width: 1_500,
      height: 1_500,
      pixels: Buffer.alloc(3 * 1_500 * 1_500),
      palette: [[0, 0, 0]],
      bits: 8,
      coding: 'rle',
    }),
  };
}

function pngBombs(base: BaseFiles): Record<string, Buffer> {
  const png = base['plain.png'];
  const large = zeros(60_000_000);
  const text = pngChunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0', 'latin1'), zeros(1_000_000)]));
  return {
    'PNG with a zTXt of 60 MB': withChunk(
      png,
      pngChunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0', 'latin1'), large])),
    ),
    'PNG with an iTXt of 60 MB': withChunk(
      png,
      pngChunk('iTXt', Buffer.concat([Buffer.from('Comment\0\x01\0\0\0', 'latin1'), large])),
    ),
    'PNG with a profile of 60 MB': withChunk(
      png,
      pngChunk('iCCP', Buffer.concat([Buffer.from('p\0\0', 'latin1'), large])),
    ),
    'PNG with a thousand zTXt': withChunk(png, ...Array.from({ length: 1_000 }, () => text)),
    'PNG with twenty thousand texts': withChunk(
      png,
      ...Array.from({ length: 20_000 }, () => pngChunk('tEXt', Buffer.from('a\0b'))),
    ),
    'PNG with fifty thousand empty IDAT': Buffer.concat([
      png.subarray(0, -12),
      ...Array.from({ length: 50_000 }, () => pngChunk('IDAT')),
      png.subarray(-12),
    ]),
    'PNG whose pixels unpack to more': Buffer.concat([
      PNG_SIGNATURE,
      pngHeader(64, 48),
      pngChunk('IDAT', large),
      pngChunk('IEND'),
    ]),
    'PNG that announces a billion frames': withChunk(png, pngChunk('acTL', Buffer.concat([u32(0x7fffffff), u32(0)]))),
    'PNG with EXIF of 3 MB': withChunk(
      png,
      pngChunk('eXIf', Buffer.concat([Buffer.from('II*\0\x08\0\0\0', 'latin1'), Buffer.alloc(3_000_000, 1)])),
    ),
  };
}

function jpegBombs(base: BaseFiles): Record<string, Buffer> {
  const progressive = base['progressive.jpg'];
  const scan = progressive.lastIndexOf(Buffer.from([0xff, 0xda]));
  const lastScan = progressive.subarray(scan, -2);
  let flooded: Buffer = base['baseline.jpg'];
  const comments = Buffer.concat(Array.from({ length: 5_000 }, () => Buffer.from([0xff, 0xfe, 0, 4, 65, 65])));
  flooded = Buffer.concat([flooded.subarray(0, 2), comments, flooded.subarray(2)]);
  return {
    'JPEG with two thousand scans': Buffer.concat([
      progressive.subarray(0, -2),
      ...Array.from({ length: 2_000 }, () => lastScan),
      progressive.subarray(-2),
    ]),
    'JPEG with five thousand comments': flooded,
    'JPEG of fill bytes': Buffer.concat([
      Buffer.from([0xff, 0xd8]),
      Buffer.alloc(2_000_000, 0xff),
      Buffer.from([0xd9]),
    ]),
    'JPEG of restart markers': Buffer.concat([
      base['baseline.jpg'].subarray(0, -2),
      Buffer.alloc(1_000_000, Buffer.from([0xff, 0xd0])),
      Buffer.from([0xff, 0xd9]),
    ]),
    'JPEG in JPEG in JPEG': [1, 2, 3].reduce<Buffer>(
      (inner) =>
        withSegment(
          base['baseline.jpg'],
          0xe1,
          Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), inner.subarray(0, 60_000)]),
        ),
      base['baseline.jpg'],
    ),
  };
}

function tiffBombs(): Record<string, Buffer> {
  const data = zeros(64 * 48 * 3);
  const good = { width: 64, height: 48, compression: 8, data };
  return {
    'TIFF whose directory is its own next': makeTiff({ ...good, next: 'itself' }),
    'TIFF with five thousand pages': makeTiff({ ...good, pages: 5_000 }),
    'TIFF with its own directory inside': makeTiff({ ...good, extra: [[330, 4, 1, 8]] }),
    'TIFF with a tag of four billion values': makeTiff({ ...good, extra: [[700, 1, 0xffffffff, 8]] }),
    'TIFF with a profile of two billion bytes': makeTiff({ ...good, extra: [[34_675, 7, 0x7fffffff, 8]] }),
    'TIFF with tiles of a million': makeTiff({
      ...good,
      extra: [
        [322, 4, 1, 1_000_000],
        [323, 4, 1, 1_000_000],
      ],
    }),
    'TIFF with 65535 channels': makeTiff({ ...good, channels: 65_535 }),
    'TIFF with a thousand channels': makeTiff({ ...good, channels: 1_000 }),
    'TIFF of 64-bit floats': makeTiff({ ...good, bits: 64, extra: [[339, 3, 1, 3]] }),
    'TIFF whose strip unpacks to more': makeTiff({ ...good, data: zeros(60_000_000) }),
  };
}

function gifBombs(): Record<string, Buffer> {
  const screen = Buffer.from('GIF89a\x40\0\x30\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1');
  const frame = Buffer.from([0x21, 0xf9, 4, 0, 1, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]);
  const comment = Buffer.from([0x21, 0xfe, 1, 65, 0]);
  return {
    'GIF of five thousand frames': Buffer.concat([
      screen,
      ...Array.from({ length: 5_000 }, () => frame),
      Buffer.from([0x3b]),
    ]),
    'GIF of a hundred thousand comments': Buffer.concat([
      screen,
      Buffer.alloc(500_000, comment),
      frame,
      Buffer.from([0x3b]),
    ]),
    'GIF without an end': Buffer.concat([
      screen,
      Buffer.from([0x2c, 0, 0, 0, 0, 64, 0, 48, 0, 0, 8]),
      Buffer.alloc(200_000, 255),
    ]),
    'GIF with codes of 12 bits at once': Buffer.concat([
      screen,
      Buffer.from([0x2c, 0, 0, 0, 0, 64, 0, 48, 0, 0, 12, 4, 255, 255, 255, 255, 0, 0x3b]),
    ]),
    'GIF whose frame leaves the screen': Buffer.concat([
      screen,
      Buffer.from([0x2c, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 2, 2, 0x4c, 1, 0, 0x3b]),
    ]),
  };
}

function exifBombs(base: BaseFiles): Record<string, Buffer> {
  /** One directory at 8 whose entries the caller writes. */
  const exif = (entries: [number, number, number, number][], next = 0): Buffer => {
    const body = Buffer.alloc(10 + 12 * entries.length + 4);
    body.write('II*\0\x08\0\0\0', 'latin1');
    body.writeUInt16LE(entries.length, 8);
    for (const [index, [tag, type, count, value]] of entries.entries()) {
      const at = 10 + 12 * index;
      body.writeUInt16LE(tag, at);
      body.writeUInt16LE(type, at + 2);
      body.writeUInt32LE(count >>> 0, at + 4);
      body.writeUInt32LE(value >>> 0, at + 8);
    }
    body.writeUInt32LE(next, body.length - 4);
    return body;
  };
  const blocks: Record<string, Buffer> = {
    'a directory that is its own next': exif([[0x112, 3, 1, 1]], 8),
    'a sub-directory that is its own': exif([
      [0x8769, 4, 1, 8],
      [0x8825, 4, 1, 8],
      [0xa005, 4, 1, 8],
    ]),
    'an entry of four billion values': exif([[0x10e, 2, 0xffffffff, 8]]),
    'an entry outside': exif([[0x10e, 2, 500, 0xfffffff0]]),
    'an orientation of 4000': exif([[0x112, 3, 1, 4_000]]),
    'an orientation that is a text': exif([[0x112, 2, 1, 6]]),
    'a thousand entries': exif(
      Array.from({ length: 1_000 }, (_, index): [number, number, number, number] => [0x9000 + index, 2, 60_000, 8]),
    ),
    'a maker note of nested directories': exif([
      [0x927c, 7, 0x7fffffff, 8],
      [0x8769, 4, 1, 8],
    ]),
  };
  return Object.fromEntries(
    Object.entries(blocks).flatMap(([name, block]) => [
      [
        `JPEG with EXIF: ${name}`,
        withSegment(base['baseline.jpg'], 0xe1, Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), block])),
      ],
      [`PNG with EXIF: ${name}`, withChunk(base['plain.png'], pngChunk('eXIf', block))],
    ]),
  );
}

function profileBombs(base: BaseFiles): Record<string, Buffer> {
  const profile = makeProfile({ gamma: 1.8 });
  const changed = (at: number, value: number): Buffer => {
    const copy = Buffer.from(profile);
    copy.writeUInt32BE(value >>> 0, at);
    return copy;
  };
  // 100 segments of 60 kB, as the largest profiles come.
  let segmented: Buffer = base['baseline.jpg'];
  for (let part = 100; part >= 1; part -= 1)
    segmented = withSegment(
      segmented,
      0xe2,
      Buffer.concat([
        Buffer.from(`ICC_PROFILE\0${String.fromCharCode(part, 100)}`, 'latin1'),
        Buffer.alloc(60_000, part),
      ]),
    );
  const blocks: Record<string, Buffer> = {
    'four billion tags': changed(128, 0xffffffff),
    'a size of four billion': changed(0, 0xffffffff),
    'a tag outside': changed(136, 0xfffffff0),
    'a tag of four billion bytes': changed(140, 0xffffffff),
    'a curve of four billion points': changed(profile.indexOf('curv') + 8, 0xffffffff),
    'no colours': changed(16, 0),
    'nothing but zeros': Buffer.alloc(1_000),
    'a header alone': profile.subarray(0, 128),
  };
  return {
    'JPEG with a profile of 6 MB': segmented,
    ...Object.fromEntries(
      Object.entries(blocks).map(([name, block]) => [
        `JPEG with a profile: ${name}`,
        withProfile(base['baseline.jpg'], block),
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(blocks).map(([name, block]) => [
        `PNG with a profile: ${name}`,
        withChunk(
          base['plain.png'],
          pngChunk('iCCP', Buffer.concat([Buffer.from('p\0\0', 'latin1'), deflateSync(block)])),
        ),
      ]),
    ),
  };
}
