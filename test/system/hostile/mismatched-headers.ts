// Files whose headers say something else than their data: larger, smaller, nothing, everything.
import { crc32 } from 'node:zlib';
import type { BaseFiles } from './base-files.ts';
import type { HostileFile } from './files.ts';

type Write = (file: Buffer, value: number) => void;

const VALUES = {
  nothing: 0,
  one: 1,
  'a bit more': 65,
  twice: 128,
  half: 32,
  'sixty thousand': 60_000,
  'most of 16 bits': 65_535,
  'most of 31 bits': 0x7fffffff,
  'most of 32 bits': 0xffffffff,
};

export function makeLies(base: BaseFiles): HostileFile[] {
  return Object.entries(placesOf(base)).flatMap(([place, { of, write }]) =>
    Object.entries(VALUES).map(([what, value]): HostileFile => {
      const data = Buffer.from(base[of]);
      write(data, value);
      return { name: `lie/${of}: ${place} is ${what}`, data };
    }),
  );
}

const big =
  (at: number, bytes: 2 | 4): Write =>
  (file, value) => {
    if (bytes === 2) file.writeUInt16BE(value & 0xffff, at);
    else file.writeUInt32BE(value >>> 0, at);
  };
const little =
  (at: number, bytes: 2 | 3 | 4): Write =>
  (file, value) => {
    file.writeUIntLE(bytes === 4 ? value >>> 0 : value % 2 ** (8 * bytes), at, bytes);
  };

function placesOf(base: BaseFiles): Record<string, { of: keyof BaseFiles; write: Write }> {
  const frame = base['baseline.jpg'].indexOf(Buffer.from([0xff, 0xc0]));
  const inPng =
    (at: number): Write =>
    (file, value) => {
      file.writeUInt32BE(value >>> 0, at);
      // With a check sum that agrees.
      file.writeUInt32BE(crc32(file.subarray(12, 29)), 29);
    };
  const size = base['still.avif'].indexOf('ispe') + 8;
  const location = base['still.avif'].indexOf('iloc');
  return {
    'its width': { of: 'baseline.jpg', write: big(frame + 7, 2) },
    'its height': { of: 'baseline.jpg', write: big(frame + 5, 2) },
    'its first segment': { of: 'baseline.jpg', write: big(4, 2) },
    'the width in IHDR': { of: 'plain.png', write: inPng(16) },
    'the height in IHDR': { of: 'plain.png', write: inPng(20) },
    'the length of a chunk': { of: 'plain.png', write: big(33, 4) },
    'the width of VP8': { of: 'lossy.webp', write: little(26, 2) },
    'the bits of VP8L': { of: 'lossless.webp', write: little(21, 4) },
    'the width of VP8X': { of: 'extended.webp', write: little(24, 3) },
    'the size of RIFF': { of: 'lossy.webp', write: little(4, 4) },
    'its canvas': { of: 'animated.webp', write: little(27, 3) },
    'the width of the screen': { of: 'animated.gif', write: little(6, 2) },
    'the height of the screen': { of: 'animated.gif', write: little(8, 2) },
    'the width of a frame': {
      of: 'animated.gif',
      write: (file, value) => {
        file.writeUInt16LE(value & 0xffff, file.indexOf(0x2c, 13 + 3 * 2 ** ((file[10]! & 7) + 1)) + 5);
      },
    },
    'the width of ispe': { of: 'still.avif', write: big(size, 4) },
    'the first word of iloc': { of: 'still.avif', write: big(location + 8, 4) },
    'the length of an extent': { of: 'still.avif', write: big(location + 26, 4) },
    ...Object.fromEntries(
      [
        [256, 'ImageWidth'],
        [257, 'ImageLength'],
        [258, 'BitsPerSample'],
        [259, 'Compression'],
        [262, 'Photometric'],
        [273, 'StripOffsets'],
        [277, 'SamplesPerPixel'],
        [278, 'RowsPerStrip'],
        [279, 'StripByteCounts'],
      ].map(([tag, name]) => [String(name), { of: 'lzw.tiff' as const, write: inTiff(Number(tag)) }]),
    ),
    TileWidth: { of: 'tiles.tiff', write: inTiff(322) },
    TileLength: { of: 'tiles.tiff', write: inTiff(323) },
    biWidth: { of: 'plain.bmp', write: little(18, 4) },
    biHeight: { of: 'runs.bmp', write: little(22, 4) },
    biBitCount: { of: 'plain.bmp', write: little(28, 2) },
    biClrUsed: { of: 'runs.bmp', write: little(46, 4) },
    bfOffBits: { of: 'fields.bmp', write: little(10, 4) },
  };
}

/** Changes the value (or what it points at, and so the value's place) of a tag of the first directory. */
function inTiff(tag: number): Write {
  return (file, value) => {
    const start = file.readUInt32LE(4);
    for (let entry = 0; entry < file.readUInt16LE(start); entry += 1) {
      const at = start + 2 + 12 * entry;
      if (file.readUInt16LE(at) !== tag) continue;
      if (file.readUInt16LE(at + 2) === 3) file.writeUInt16LE(value & 0xffff, at + 8);
      else file.writeUInt32LE(value >>> 0, at + 8);
    }
  };
}
