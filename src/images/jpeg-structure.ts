// Walks a JPEG's segments: tables, frame and scans are the picture; EXIF, XMP, previews, comments and whatever follows the end are not.
import type { FileReader } from './file-reader.ts';
import { collectRanges, ENDS_EARLY, StructureError, type Structure } from './structure.ts';

const [EOI, SOS, APP0, APP14, APP15, COM] = [0xd9, 0xda, 0xe0, 0xee, 0xef, 0xfe];
const SCAN_BYTES = 65_536;

export async function readJpegStructure(reader: FileReader): Promise<Structure> {
  const { keep, ranges } = collectRanges();
  keep(0, 2);
  let at = 2;
  let isUnusual = false;
  for (;;) {
    const marker = await findMarker(reader, at);
    if (marker.code === EOI) {
      keep(marker.at, marker.at + 2);
      return { parts: ranges, size: null, isUnusual, frames: 1 };
    }
    const head = await reader.read(marker.at + 2, 12);
    if (head.length < 2) throw new StructureError(ENDS_EARLY);
    const end = marker.at + 2 + head.readUInt16BE(0);
    if (end < marker.at + 4) throw new StructureError('a segment of it has no length');
    if (end > reader.bytes) throw new StructureError(ENDS_EARLY);
    if (isPicture(marker.code, head)) keep(marker.at, end);
    if (isFrame(marker.code)) isUnusual ||= marker.code > 0xc2 || head[2] !== 8;
    at = end;
    if (marker.code === SOS) {
      at = await findScanEnd(reader, end);
      keep(end, at);
    }
  }
}

/** The next marker, over fill bytes and whatever stray bytes a camera left between two segments. */
async function findMarker(reader: FileReader, from: number): Promise<{ at: number; code: number }> {
  for (let at = from; ;) {
    const view = await reader.read(at, SCAN_BYTES);
    if (view.length < 2) throw new StructureError(ENDS_EARLY);
    const found = view.indexOf(0xff);
    const code = view[found + 1];
    if (found < 0) at += view.length;
    else if (code === undefined) at += found;
    // Not stuffing, no fill byte, and none of the markers that stand alone.
    else if (code > 0x01 && code < 0xff && (code < 0xd0 || code > 0xd8)) return { at: at + found, code };
    else at += found + (code === 0xff ? 1 : 2);
  }
}

/** Entropy-coded bytes reach to the first marker that is neither stuffing nor a restart. */
async function findScanEnd(reader: FileReader, from: number): Promise<number> {
  for (let at = from; ;) {
    const view = await reader.read(at, SCAN_BYTES);
    if (view.length < 2) throw new StructureError(ENDS_EARLY);
    let found = view.indexOf(0xff);
    while (found >= 0 && found + 1 < view.length) {
      const code = view[found + 1] ?? 0;
      if (code !== 0 && code !== 0xff && (code < 0xd0 || code > 0xd7)) return at + found;
      found = view.indexOf(0xff, found + (code === 0xff ? 1 : 2));
    }
    at += found >= 0 && found < view.length ? found : view.length;
  }
}

const isFrame = (code: number): boolean => code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code);

/** JFIF and Adobe say how the colours are to be read; no other application's data does. */
function isPicture(code: number, head: Buffer): boolean {
  if (code === APP0) return head.toString('latin1', 2, 7) === 'JFIF\0';
  if (code === APP14) return head.toString('latin1', 2, 7) === 'Adobe';
  return (code < APP0 || code > APP15) && code !== COM;
}
