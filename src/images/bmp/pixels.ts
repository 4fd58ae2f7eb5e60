// Converts BMP rows to R, G, B (and alpha) bytes: palettes, channel masks and run-length encoding.
import type { BmpHeader, ChannelMasks } from './header.ts';
import { TRUNCATED, MalformedFileError } from '../containers/container.ts';

export const countChannels = ({ masks }: BmpHeader): 3 | 4 => (masks && masks.alpha !== 0 ? 4 : 3);
/** Bytes per row; rows are padded to multiples of four. */
export const rowStride = ({ width, bitsPerPixel }: BmpHeader): number => Math.ceil((width * bitsPerPixel) / 32) * 4;

/** Converts one row of the file; `target` holds `width * channelsOf(header)` bytes. */
type RowConverter = (source: Buffer, target: Buffer) => void;

export function createRowConverter(header: BmpHeader): RowConverter {
  if (header.bitsPerPixel === 24)
    return (source, target) => {
      copyBgr(source, target, header.width);
    };
  if (header.masks) return createMaskedConverter(header, header.masks);
  return createPaletteConverter(header, header.palette ?? Buffer.alloc(0));
}

function copyBgr(source: Buffer, target: Buffer, width: number): void {
  for (let at = 0; at < 3 * width; at += 3) {
    target[at] = source[at + 2] ?? 0;
    target[at + 1] = source[at + 1] ?? 0;
    target[at + 2] = source[at] ?? 0;
  }
}

function createMaskedConverter(header: BmpHeader, masks: ChannelMasks): RowConverter {
  const channels = countChannels(header);
  const bytes = header.bitsPerPixel / 8;
  const readers = [masks.red, masks.green, masks.blue, masks.alpha].slice(0, channels).map(createChannelReader);
  return (source, target) => {
    for (let column = 0; column < header.width; column += 1) {
      const pixel = bytes === 2 ? source.readUInt16LE(2 * column) : source.readUInt32LE(4 * column);
      for (let channel = 0; channel < channels; channel += 1)
        target[column * channels + channel] = readers[channel]?.(pixel) ?? 0;
    }
  };
}

/** Extracts the bits under a mask, scaled so that all ones become 255. */
function createChannelReader(mask: number): (pixel: number) => number {
  if (mask === 0) return () => 0;
  const shift = 31 - Math.clz32(mask & -mask);
  const maxValue = mask >>> shift;
  if (maxValue === 255) return (pixel) => (pixel & mask) >>> shift;
  return (pixel) => Math.round((((pixel & mask) >>> shift) * 255) / maxValue);
}

function createPaletteConverter({ width, bitsPerPixel: bits }: BmpHeader, palette: Buffer): RowConverter {
  const perByte = 8 / bits;
  return (source, target) => {
    for (let column = 0; column < width; column += 1) {
      const byte = source[Math.floor(column / perByte)] ?? 0;
      writeColour(target, column, (byte >> (8 - bits - bits * (column % perByte))) & (2 ** bits - 1), palette);
    }
  };
}

function writeColour(target: Buffer, column: number, index: number, palette: Buffer): void {
  if (3 * index >= palette.length)
    throw new MalformedFileError(`a pixel uses colour ${index} of a palette of ${palette.length / 3}`);
  palette.copy(target, 3 * column, 3 * index, 3 * index + 3);
}

/** Expands run-length encoded pixels to one byte per pixel, bottom row first as in the file. Skipped pixels get colour 0. */
export function expandRuns(data: Buffer, { width, height, compression }: BmpHeader): Buffer {
  const pixels = Buffer.alloc(width * height);
  const isRle4 = compression === 'rle4';
  let [at, column, row] = [0, 0, 0];
  const writeRun = (count: number, valueAt: (index: number) => number) => {
    if (row >= height || column + count > width)
      throw new MalformedFileError('a run of pixels extends beyond the image');
    for (let index = 0; index < count; index += 1) pixels[row * width + column + index] = valueAt(index);
    column += count;
  };
  const assertAvailable = (end: number) => {
    if (end > data.length) throw new MalformedFileError(TRUNCATED);
  };
  for (;;) {
    // Some encoders omit the end marker; then all pixels must be present.
    if (at >= data.length && (row >= height || (row === height - 1 && column === width))) return pixels;
    assertAvailable(at + 2);
    const [count = 0, value = 0] = [data[at], data[at + 1]];
    at += 2;
    if (count > 0) writeRun(count, (index) => (isRle4 ? (index % 2 === 0 ? value >> 4 : value & 15) : value));
    else if (value === 0) [column, row] = [0, row + 1];
    else if (value === 1) return pixels;
    else if (value === 2) {
      assertAvailable(at + 2);
      [column, row] = [column + (data[at] ?? 0), row + (data[at + 1] ?? 0)];
      at += 2;
    } else {
      const start = at;
      const bytes = isRle4 ? Math.ceil(value / 2) : value;
      assertAvailable(start + bytes);
      writeRun(value, (index) =>
        isRle4 ? ((data[start + (index >> 1)] ?? 0) >> (index % 2 === 0 ? 4 : 0)) & 15 : (data[start + index] ?? 0),
      );
      at += bytes + (bytes % 2);
    }
  }
}
