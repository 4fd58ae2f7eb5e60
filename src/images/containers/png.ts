// Parses a PNG's chunks: keeps header, palette and pixels; drops text, times, EXIF, profiles, animation frames and trailing bytes.
import type { FileReader } from './reader.ts';
import { collectRanges, TRUNCATED, MalformedFileError, TOO_MANY_PARTS, type Container } from './container.ts';

/** Small, without text, and in nearly every file: dropping them would force a copy of the file. */
const HARMLESS = new Set(['gAMA', 'cHRM', 'sRGB', 'sBIT', 'pHYs', 'bKGD']);
const HARMLESS_BYTES = 32;
/** Encoders write 8 kB or more per chunk. */
const MAX_CHUNKS = 60_000;
const IMAGE_CHUNKS = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);

export async function readPngContainer(reader: FileReader): Promise<Container> {
  const { keep, ranges } = collectRanges();
  keep(0, 8);
  let at = 8;
  let frames = 1;
  const header = await reader.read(16, 8);
  if (header.length < 8) throw new MalformedFileError(TRUNCATED);
  const size = { width: header.readUInt32BE(0), height: header.readUInt32BE(4) };
  for (let chunks = 0; ; chunks += 1) {
    if (chunks > MAX_CHUNKS) throw new MalformedFileError(TOO_MANY_PARTS);
    const head = await reader.read(at, 12);
    if (head.length < 12) throw new MalformedFileError(TRUNCATED);
    const bytes = head.readUInt32BE(0);
    const name = head.toString('latin1', 4, 8);
    const end = at + 12 + bytes;
    if (!/^[A-Za-z]{4}$/.test(name)) throw new MalformedFileError('its chunks are not contiguous');
    if ((at === 8) !== (name === 'IHDR')) throw new MalformedFileError('its header is not at the beginning');
    if (end > reader.bytes) throw new MalformedFileError(TRUNCATED);
    if (IMAGE_CHUNKS.has(name) || (HARMLESS.has(name) && bytes <= HARMLESS_BYTES)) keep(at, end);
    else if (/^[A-Z]/.test(name)) throw new MalformedFileError(`it needs a chunk (${name}) that is not supported`);
    if (name === 'acTL' && bytes === 8) frames = Math.max(1, (await reader.read(at, 12)).readUInt32BE(8));
    if (name === 'IEND') return { parts: ranges, size, isUnusual: false, frames };
    at = end;
  }
}
