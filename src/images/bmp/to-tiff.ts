// Rewrites a BMP, which sharp cannot read, as an uncompressed TIFF, band by band.
import { open, type FileHandle } from 'node:fs/promises';
import type { BmpHeader } from './header.ts';
import { countChannels, createRowConverter, expandRuns, rowStride } from './pixels.ts';
import { TRUNCATED, MalformedFileError } from '../containers/container.ts';
import { buildTiffHeader } from './tiff-header.ts';

/** Bounds the memory, and lets the event loop run between bands. */
const BAND_BYTES = 1_000_000;

export async function rewriteBmpAsTiff(source: string, target: string, header: BmpHeader): Promise<void> {
  const isTransparent = await rewrite(source, target, header);
  // Alpha 0 in every pixel: the encoder left the channel empty; the image is not meant to be invisible.
  if (isTransparent && header.masks) await rewrite(source, target, { ...header, masks: { ...header.masks, alpha: 0 } });
}

async function rewrite(source: string, target: string, header: BmpHeader): Promise<boolean> {
  const input = await open(source, 'r');
  const output = await open(target, 'w', 0o600);
  try {
    const profile = header.profile ? await readExactly(input, header.profile.offset, header.profile.bytes) : null;
    const head = buildTiffHeader({
      width: header.width,
      height: header.height,
      channels: countChannels(header),
      profile,
    });
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
/** In file order. */
type Bands = AsyncGenerator<Band>;

async function* readRows(input: FileHandle, header: BmpHeader): Bands {
  const stride = rowStride(header);
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

/** Returns whether there is an alpha channel and it is 0 everywhere. */
async function writeRows(bands: Bands, output: FileHandle, offset: number, header: BmpHeader): Promise<boolean> {
  // Run-length encoded pixels were expanded to one byte each.
  const convert = createRowConverter(header.compression === 'none' ? header : { ...header, bitsPerPixel: 8 });
  const rowBytes = header.width * countChannels(header);
  let hasVisiblePixel = countChannels(header) === 3;
  for await (const { firstRow, rows, stride } of bands) {
    const count = rows.length / stride;
    const band = Buffer.alloc(count * rowBytes);
    for (let row = 0; row < count; row += 1) {
      // BMP stores the bottom row first unless it is top-down.
      const targetRow = header.topDown ? row : count - 1 - row;
      convert(
        rows.subarray(row * stride, (row + 1) * stride),
        band.subarray(targetRow * rowBytes, (targetRow + 1) * rowBytes),
      );
    }
    for (let at = 3; at < band.length && !hasVisiblePixel; at += 4) hasVisiblePixel = band[at] !== 0;
    const top = header.topDown ? firstRow : header.height - firstRow - count;
    await output.write(band, 0, band.length, offset + top * rowBytes);
  }
  return !hasVisiblePixel;
}

async function readExactly(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw new MalformedFileError(TRUNCATED);
  return buffer;
}
