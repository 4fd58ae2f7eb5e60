// Writes BMP files of every kind for the tests, from pixels they know.

export interface BmpOptions {
  width: number;
  height: number;
  /** R, G, B of each pixel, the top row first. */
  pixels: Buffer;
  header?: 'core' | 'info' | 'os2' | 'v4' | 'v5';
  bits?: 1 | 2 | 4 | 8 | 16 | 24 | 32;
  coding?: 'none' | 'rle' | 'bitfields';
  topDown?: boolean;
  /** For bits of 8 and less: R, G, B of each entry; every pixel must be one of them. */
  palette?: number[][];
  /** For bitfields: of red, green, blue, alpha. */
  masks?: [number, number, number, number];
  /** For a mask of alpha: of each pixel. */
  alpha?: Buffer;
  profile?: Buffer;
}

const HEADER_BYTES = { core: 12, info: 40, os2: 64, v4: 108, v5: 124 };

export function makeBmp(options: BmpOptions): Buffer {
  const {
    width,
    height,
    header = 'info',
    bits = 24,
    coding = 'none',
    topDown = false,
    palette = [],
    masks,
    profile,
  } = options;
  const info = Buffer.alloc(HEADER_BYTES[header]);
  info.writeUInt32LE(info.length, 0);
  if (header === 'core') {
    for (const [index, value] of [width, height, 1, bits].entries()) info.writeUInt16LE(value, 4 + 2 * index);
  } else {
    info.writeInt32LE(width, 4);
    info.writeInt32LE(topDown ? -height : height, 8);
    info.writeUInt16LE(1, 12);
    info.writeUInt16LE(bits, 14);
    info.writeUInt32LE(coding === 'bitfields' ? 3 : coding === 'rle' ? (bits === 8 ? 1 : 2) : 0, 16);
    info.writeUInt32LE(palette.length, 32);
  }
  const between: Buffer[] = [];
  if (masks && info.length >= 108) masks.forEach((mask, index) => info.writeUInt32LE(mask >>> 0, 40 + 4 * index));
  else if (masks) between.push(Buffer.from(Uint32Array.from(masks.slice(0, 3)).buffer));
  if (info.length >= 108) info.writeUInt32LE(0x73524742, 56);
  between.push(
    Buffer.from(
      palette.flatMap(([red = 0, green = 0, blue = 0]) => [blue, green, red, ...(header === 'core' ? [] : [0])]),
    ),
  );
  const rows = Array.from({ length: height }, (_, row) => (topDown ? row : height - 1 - row));
  const body = coding === 'rle' ? runLengths(options, rows) : Buffer.concat(rows.map((row) => packRow(options, row)));
  const start = 14 + info.length + between.reduce((sum, part) => sum + part.length, 0);
  if (profile) {
    info.writeUInt32LE(0x4d424544, 56);
    info.writeUInt32LE(start - 14 + body.length, 112);
    info.writeUInt32LE(profile.length, 116);
  }
  const file = Buffer.alloc(14);
  file.write('BM', 'latin1');
  file.writeUInt32LE(start + body.length + (profile?.length ?? 0), 2);
  file.writeUInt32LE(start, 10);
  return Buffer.concat([file, info, ...between, body, profile ?? Buffer.alloc(0)]);
}

const colourAt = ({ pixels, width }: BmpOptions, row: number, column: number): number[] => [
  ...pixels.subarray(3 * (row * width + column), 3 * (row * width + column) + 3),
];

function indexAt(options: BmpOptions, row: number, column: number): number {
  const colour = colourAt(options, row, column);
  const index = (options.palette ?? []).findIndex((entry) =>
    entry.every((value, channel) => value === colour[channel]),
  );
  if (index < 0) throw new Error(`The palette has no ${colour.join()}`);
  return index;
}

function packRow(options: BmpOptions, row: number): Buffer {
  const { width, bits = 24, alpha } = options;
  const packed = Buffer.alloc(Math.ceil((width * bits) / 32) * 4);
  const masks = options.masks ?? (bits === 16 ? [0x7c00, 0x3e0, 0x1f, 0] : [0xff0000, 0xff00, 0xff, 0]);
  for (let column = 0; column < width; column += 1) {
    if (bits <= 8) {
      const perByte = 8 / bits;
      packed[Math.floor(column / perByte)]! |= indexAt(options, row, column) << (8 - bits - bits * (column % perByte));
    } else if (bits === 24) {
      Buffer.from(colourAt(options, row, column).reverse()).copy(packed, 3 * column);
    } else {
      const values = [...colourAt(options, row, column), alpha?.[row * width + column] ?? 0];
      const pixel = masks.reduce((sum, mask, channel) => sum + placeUnder(mask >>> 0, values[channel] ?? 0), 0);
      if (bits === 16) packed.writeUInt16LE(pixel, 2 * column);
      else packed.writeUInt32LE(pixel, 4 * column);
    }
  }
  return packed;
}

function placeUnder(mask: number, value: number): number {
  if (mask === 0) return 0;
  const shift = Math.log2(mask & -mask) || 31 - Math.clz32(mask & -mask);
  const most = mask / 2 ** shift;
  return Math.round((value * most) / 255) * 2 ** shift;
}

/** Runs where pixels repeat, literal stretches where they do not; every second row ends with a skip to its end. */
function runLengths(options: BmpOptions, rows: number[]): Buffer {
  const out: number[] = [];
  const { width, bits } = options;
  for (const row of rows) {
    const indices = Array.from({ length: width }, (_, column) => indexAt(options, row, column));
    let at = 0;
    while (at < width) {
      const run = indices.slice(at).findIndex((index) => index !== indices[at]);
      const length = Math.min(255, run < 0 ? width - at : run);
      if (length >= 3 || width - at < 3) {
        out.push(length, bits === 8 ? indices[at]! : indices[at]! * 17);
        at += length;
      } else {
        const literal = indices.slice(at, at + Math.min(5, width - at));
        const bytes =
          bits === 8
            ? literal
            : Array.from(
                { length: Math.ceil(literal.length / 2) },
                (_, pair) => (literal[2 * pair]! << 4) | (literal[2 * pair + 1] ?? 0),
              );
        out.push(0, literal.length, ...bytes, ...(bytes.length % 2 === 1 ? [0] : []));
        at += literal.length;
      }
    }
    out.push(0, 0);
  }
  out.push(0, 1);
  return Buffer.from(out);
}
