// Walks a still WebP's chunks: the one that holds the coded frame is the picture; EXIF, XMP, profiles and what follows the end are not.
import type { FileReader } from './reader.ts';
import { ENDS_EARLY, StructureError, TOO_MANY_PIECES, type Structure } from './container.ts';

/** Before the first frame; five are defined. */
const MOST_CHUNKS = 1_000;

export async function readWebpStructure(reader: FileReader): Promise<Structure> {
  const riff = await reader.read(0, 12);
  if (riff.length < 12) throw new StructureError(ENDS_EARLY);
  const end = riff.readUInt32LE(4) + 8;
  if (end > reader.bytes) throw new StructureError(ENDS_EARLY);
  let chunks = 0;
  for (let at = 12; at + 8 <= end;) {
    chunks += 1;
    if (chunks > MOST_CHUNKS) throw new StructureError(TOO_MANY_PIECES);
    const head = await reader.read(at, 18);
    if (head.length < 8) throw new StructureError(ENDS_EARLY);
    const name = head.toString('latin1', 0, 4);
    const bytes = head.readUInt32LE(4);
    const next = at + 8 + bytes + (bytes % 2);
    if (at + 8 + bytes > end) throw new StructureError(ENDS_EARLY);
    // An animation keeps its frames in chunks of their own, which the decoder reads.
    if (name === 'ANMF') return { parts: [[0, reader.bytes]], size: null, isUnusual: false, frames: 1 };
    if (name === 'VP8 ' || name === 'VP8L') return describe(name, head, at, Math.min(next, reader.bytes), reader.bytes);
    at = next;
  }
  throw new StructureError('it contains no picture');
}

function describe(name: string, head: Buffer, start: number, end: number, fileBytes: number): Structure {
  if (head.length < 18) throw new StructureError(ENDS_EARLY);
  const size =
    name === 'VP8L'
      ? losslessSize(head.readUInt32LE(9))
      : { width: head.readUInt16LE(14) & 0x3fff, height: head.readUInt16LE(16) & 0x3fff };
  if (start === 12 && end === fileBytes) return { parts: [[0, end]], size, isUnusual: false, frames: 1 };
  const header = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1');
  header.writeUInt32LE(4 + end - start, 4);
  return { parts: [header, [start, end]], size, isUnusual: false, frames: 1 };
}

const losslessSize = (bits: number) => ({ width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 });
