// Parses a still WebP's chunks: keeps the encoded frame; drops EXIF, XMP, profiles and trailing bytes.
import type { FileReader } from './reader.ts';
import { TRUNCATED, MalformedFileError, TOO_MANY_PARTS, type Container } from './container.ts';

/** Limit before the first frame; the format defines five. */
const MAX_CHUNKS = 1_000;

export async function readWebpContainer(reader: FileReader): Promise<Container> {
  const riff = await reader.read(0, 12);
  if (riff.length < 12) throw new MalformedFileError(TRUNCATED);
  const end = riff.readUInt32LE(4) + 8;
  if (end > reader.bytes) throw new MalformedFileError(TRUNCATED);
  let chunks = 0;
  for (let at = 12; at + 8 <= end;) {
    chunks += 1;
    if (chunks > MAX_CHUNKS) throw new MalformedFileError(TOO_MANY_PARTS);
    const head = await reader.read(at, 18);
    if (head.length < 8) throw new MalformedFileError(TRUNCATED);
    const name = head.toString('latin1', 0, 4);
    const bytes = head.readUInt32LE(4);
    const next = at + 8 + bytes + (bytes % 2);
    if (at + 8 + bytes > end) throw new MalformedFileError(TRUNCATED);
    // An animation is re-encoded, so the decoder reads its frames.
    if (name === 'ANMF') return { parts: [[0, reader.bytes]], size: null, isUnusual: false, frames: 1 };
    if (name === 'VP8 ' || name === 'VP8L')
      return buildContainer(name, head, at, Math.min(next, reader.bytes), reader.bytes);
    at = next;
  }
  throw new MalformedFileError('it contains no image');
}

function buildContainer(name: string, head: Buffer, start: number, end: number, fileBytes: number): Container {
  if (head.length < 18) throw new MalformedFileError(TRUNCATED);
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
