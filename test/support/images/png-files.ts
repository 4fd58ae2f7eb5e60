// Writes PNG files chunk by chunk for the tests: depths, palettes, transparency, animation, and chunks that no decoder asked for.
import { crc32, deflateSync } from 'node:zlib';

export const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

export function pngChunk(name: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  return Buffer.concat([u32(data.length), body, u32(crc32(body))]);
}

export interface PngOptions {
  width: number;
  height: number;
  depth: 1 | 2 | 4 | 8 | 16;
  /** 0 grey, 2 RGB, 3 palette, 4 grey with alpha, 6 RGB with alpha. */
  colour: 0 | 2 | 3 | 4 | 6;
  /** Samples of each row, one after the other. */
  samples: ArrayLike<number>;
  palette?: Buffer;
  transparency?: Buffer;
  /** Chunks between header and pixels. */
  extra?: Buffer[];
}

export function makePng({
  width,
  height,
  depth,
  colour,
  samples,
  palette,
  transparency,
  extra = [],
}: PngOptions): Buffer {
  const perRow = samples.length / height;
  const rows = Array.from({ length: height }, (_, row) =>
    packSamples(
      Array.from({ length: perRow }, (_, index) => samples[row * perRow + index]!),
      depth,
    ),
  );
  return Buffer.concat([
    PNG_SIGNATURE,
    pngHeader(width, height, depth, colour),
    ...extra,
    ...(palette ? [pngChunk('PLTE', palette)] : []),
    ...(transparency ? [pngChunk('tRNS', transparency)] : []),
    pngChunk('IDAT', deflateSync(Buffer.concat(rows))),
    pngChunk('IEND'),
  ]);
}

export const pngHeader = (width: number, height: number, depth = 8, colour = 2): Buffer =>
  pngChunk('IHDR', Buffer.concat([u32(width), u32(height), Buffer.from([depth, colour, 0, 0, 0])]));

function packSamples(samples: number[], depth: number): Buffer {
  if (depth === 16) return Buffer.from([0, ...samples.flatMap((value) => [value >> 8, value & 255])]);
  const perByte = 8 / depth;
  const packed = Buffer.alloc(1 + Math.ceil(samples.length / perByte));
  samples.forEach((value, index) => {
    packed[1 + Math.floor(index / perByte)]! |= value << (8 - depth - depth * (index % perByte));
  });
  return packed;
}

/** Inserts a chunk after the header of a PNG. */
export const withChunk = (png: Buffer, ...chunks: Buffer[]): Buffer =>
  Buffer.concat([png.subarray(0, 33), ...chunks, png.subarray(33)]);

/** Two frames; the first is the image that readers without animation show. */
export function makeAnimatedPng(first: PngOptions, second: PngOptions): Buffer {
  const { width, height } = first;
  const control = (sequence: number) =>
    pngChunk(
      'fcTL',
      Buffer.concat([u32(sequence), u32(width), u32(height), u32(0), u32(0), Buffer.from([0, 1, 0, 10, 0, 0])]),
    );
  const animation = pngChunk('acTL', Buffer.concat([u32(2), u32(0)]));
  const base = makePng({ ...first, extra: [animation, control(0)] });
  const plain = makePng(second);
  const at = plain.indexOf('IDAT') - 4;
  const pixels = plain.subarray(at + 8, at + 8 + plain.readUInt32BE(at));
  return Buffer.concat([
    base.subarray(0, -12),
    control(1),
    pngChunk('fdAT', Buffer.concat([u32(2), pixels])),
    pngChunk('IEND'),
  ]);
}

/** The same image in other bytes: its data cut in two at another place. Only pixels travel on, so that a comment would change nothing. */
export function withSplitData(png: Buffer, at: number): Buffer {
  const start = png.indexOf('IDAT', 0, 'latin1') - 4;
  const length = png.readUInt32BE(start);
  const data = png.subarray(start + 8, start + 8 + length);
  const cut = 1 + (at % (length - 1));
  return Buffer.concat([
    png.subarray(0, start),
    pngChunk('IDAT', data.subarray(0, cut)),
    pngChunk('IDAT', data.subarray(cut)),
    png.subarray(start + 12 + length),
  ]);
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
