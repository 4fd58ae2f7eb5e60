// Walks a PNG's chunks: header, palette and pixels are the picture; texts, times, EXIF, profiles, animations and what follows the end are not.
import type { FileReader } from './reader.ts';
import { collectRanges, ENDS_EARLY, StructureError, TOO_MANY_PIECES, type Structure } from './container.ts';

/** Small, without a word in them, and in nearly every file: leaving them out would only mean to copy it. */
const HARMLESS = new Set(['gAMA', 'cHRM', 'sRGB', 'sBIT', 'pHYs', 'bKGD']);
const HARMLESS_BYTES = 32;
/** Writers put 8 kB and more into one. */
const MOST_CHUNKS = 60_000;
const PICTURE = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);

export async function readPngStructure(reader: FileReader): Promise<Structure> {
  const { keep, ranges } = collectRanges();
  keep(0, 8);
  let at = 8;
  let frames = 1;
  const header = await reader.read(16, 8);
  if (header.length < 8) throw new StructureError(ENDS_EARLY);
  const size = { width: header.readUInt32BE(0), height: header.readUInt32BE(4) };
  for (let chunks = 0; ; chunks += 1) {
    if (chunks > MOST_CHUNKS) throw new StructureError(TOO_MANY_PIECES);
    const head = await reader.read(at, 12);
    if (head.length < 12) throw new StructureError(ENDS_EARLY);
    const bytes = head.readUInt32BE(0);
    const name = head.toString('latin1', 4, 8);
    const end = at + 12 + bytes;
    if (!/^[A-Za-z]{4}$/.test(name)) throw new StructureError('its chunks do not follow each other');
    if ((at === 8) !== (name === 'IHDR')) throw new StructureError('its header does not stand at the beginning');
    if (end > reader.bytes) throw new StructureError(ENDS_EARLY);
    if (PICTURE.has(name) || (HARMLESS.has(name) && bytes <= HARMLESS_BYTES)) keep(at, end);
    else if (/^[A-Z]/.test(name)) throw new StructureError(`it needs a chunk (${name}) that is not known here`);
    if (name === 'acTL' && bytes === 8) frames = Math.max(1, (await reader.read(at, 12)).readUInt32BE(8));
    if (name === 'IEND') return { parts: ranges, size, isUnusual: false, frames };
    at = end;
  }
}
