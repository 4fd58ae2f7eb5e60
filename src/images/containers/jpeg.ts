// Walks a JPEG's segments: tables, frame and scans are the picture; EXIF, XMP, previews, comments and whatever follows the end are not.
import type { FileReader } from './reader.ts';
import { collectRanges, ENDS_EARLY, StructureError, TOO_MANY_PIECES, type Structure } from './container.ts';

const [EOI, SOS, APP0, APP14, APP15, COM] = [0xd9, 0xda, 0xe0, 0xee, 0xef, 0xfe];
const SCAN_BYTES = 65_536;
const MOST_SEGMENTS = 10_000;
/** Each scan is a pass over all pixels: a file of a few kilobytes can ask for thousands. Real ones have at most about twenty. */
const MOST_SCANS = 100;

export async function readJpegStructure(reader: FileReader): Promise<Structure> {
  const { keep, ranges } = collectRanges();
  keep(0, 2);
  let at = 2;
  let isUnusual = false;
  let size: Structure['size'] = null;
  let [segments, scans] = [0, 0];
  for (;;) {
    const marker = await findMarker(reader, at);
    if (marker.code === EOI) {
      keep(marker.at, marker.at + 2);
      return { parts: ranges, size, isUnusual, frames: 1 };
    }
    const head = await reader.read(marker.at + 2, 12);
    if (head.length < 2) throw new StructureError(ENDS_EARLY);
    const end = marker.at + 2 + head.readUInt16BE(0);
    if (end < marker.at + 4) throw new StructureError('a segment of it has no length');
    if (end > reader.bytes) throw new StructureError(ENDS_EARLY);
    if (isPicture(marker.code, head)) keep(marker.at, end);
    if (isFrame(marker.code) && head.length >= 7) {
      isUnusual ||= marker.code > 0xc2 || head[2] !== 8;
      size = { width: head.readUInt16BE(5), height: head.readUInt16BE(3) };
    }
    at = end;
    segments += 1;
    if (marker.code === SOS) {
      scans += 1;
      at = (await findMarker(reader, end)).at;
      keep(end, at);
    }
    if (segments > MOST_SEGMENTS || scans > MOST_SCANS) throw new StructureError(TOO_MANY_PIECES);
  }
}

/**
 * The next marker that opens a segment or ends the picture: over stuffing, fill bytes, restarts and whatever stray bytes a camera left between two
 * segments. Entropy-coded pixels reach to it as well.
 */
async function findMarker(reader: FileReader, from: number): Promise<{ at: number; code: number }> {
  for (let at = from; ;) {
    const view = await reader.read(at, SCAN_BYTES);
    if (view.length < 2) throw new StructureError(ENDS_EARLY);
    let found = view.indexOf(0xff);
    while (found >= 0 && found + 1 < view.length) {
      const code = view[found + 1] ?? 0;
      if (code > 0x01 && code < 0xff && (code < 0xd0 || code > 0xd8)) return { at: at + found, code };
      found = view.indexOf(0xff, found + (code === 0xff ? 1 : 2));
    }
    at += found >= 0 ? found : view.length;
  }
}

const isFrame = (code: number): boolean => code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code);

/** JFIF and Adobe say how the colours are to be read; no other application's data does. */
function isPicture(code: number, head: Buffer): boolean {
  if (code === APP0) return head.toString('latin1', 2, 7) === 'JFIF\0';
  if (code === APP14) return head.toString('latin1', 2, 7) === 'Adobe';
  return (code < APP0 || code > APP15) && code !== COM;
}
