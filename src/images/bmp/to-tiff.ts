// Reads BMP, which sharp's build does not: rewrites the file as an uncompressed TIFF, band by band, and the usual decoder takes it from there.
import { open, type FileHandle } from 'node:fs/promises';
import type { BmpHeader } from './header.ts';
import { channelsOf, createRowConverter, expandRuns, strideOf } from './pixels.ts';
import { ENDS_EARLY, StructureError } from '../containers/container.ts';
import { tiffHeader } from './tiff-header.ts';

/** About so many bytes at a time: little memory, and the event loop breathes between the bands. */
const BAND_BYTES = 1_000_000;

export async function rewriteBmpAsTiff(source: string, target: string, header: BmpHeader): Promise<void> {
  const isInvisible = await rewrite(source, target, header);
  // A mask for alpha under which every pixel is 0: writers that never filled it in, not an invisible picture.
  if (isInvisible && header.masks) await rewrite(source, target, { ...header, masks: { ...header.masks, alpha: 0 } });
}

async function rewrite(source: string, target: string, header: BmpHeader): Promise<boolean> {
  const input = await open(source, 'r');
  const output = await open(target, 'w', 0o600);
  try {
    const profile = header.profile ? await readExactly(input, header.profile.offset, header.profile.bytes) : null;
    const head = tiffHeader({ width: header.width, height: header.height, channels: channelsOf(header), profile });
    await output.write(head, 0, head.length, 0);
    const rows = header.compression === 'none' ? readRows(input, header) : unpackRows(input, header);
    return await writeRows(rows, output, head.length, header);
  } finally {
    await input.close();
    await output.close();
  }
}

interface Band {
  firstRow: number;
  rows: Buffer;
  stride: number;
}
/** Bands in the order of the file. */
type Bands = AsyncGenerator<Band>;

async function* readRows(input: FileHandle, header: BmpHeader): Bands {
  const stride = strideOf(header);
  const perBand = Math.max(1, Math.floor(BAND_BYTES / stride));
  for (let firstRow = 0; firstRow < header.height; firstRow += perBand) {
    const count = Math.min(perBand, header.height - firstRow);
    yield { firstRow, stride, rows: await readExactly(input, header.pixelOffset + firstRow * stride, count * stride) };
  }
}

async function* unpackRows(input: FileHandle, header: BmpHeader): Bands {
  const { size } = await input.stat();
  const pixels = expandRuns(await readExactly(input, header.pixelOffset, size - header.pixelOffset), header);
  const perBand = Math.max(1, Math.floor(BAND_BYTES / header.width));
  for (let firstRow = 0; firstRow < header.height; firstRow += perBand) {
    yield {
      firstRow,
      stride: header.width,
      rows: pixels.subarray(firstRow * header.width, (firstRow + perBand) * header.width),
    };
  }
}

/** Returns whether there is an alpha channel that is 0 everywhere. */
async function writeRows(bands: Bands, output: FileHandle, offset: number, header: BmpHeader): Promise<boolean> {
  // Run-length codes were expanded to a byte a pixel.
  const convert = createRowConverter(header.compression === 'none' ? header : { ...header, bitsPerPixel: 8 });
  const rowBytes = header.width * channelsOf(header);
  let alphaSeen = channelsOf(header) === 3;
  for await (const { firstRow, rows, stride } of bands) {
    const count = rows.length / stride;
    const band = Buffer.alloc(count * rowBytes);
    for (let row = 0; row < count; row += 1) {
      // BMP begins with the lowest row unless it says otherwise.
      const place = header.topDown ? row : count - 1 - row;
      convert(rows.subarray(row * stride, (row + 1) * stride), band.subarray(place * rowBytes, (place + 1) * rowBytes));
    }
    for (let at = 3; at < band.length && !alphaSeen; at += 4) alphaSeen = band[at] !== 0;
    const top = header.topDown ? firstRow : header.height - firstRow - count;
    await output.write(band, 0, band.length, offset + top * rowBytes);
  }
  return !alphaSeen;
}

async function readExactly(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw new StructureError(ENDS_EARLY);
  return buffer;
}
