// Parses a JPEG's segments: keeps tables, frame and scans; drops EXIF, XMP, previews, comments and trailing bytes.
import type { FileReader } from './reader.ts';
import { collectRanges, TRUNCATED, MalformedFileError, TOO_MANY_PARTS, type Container } from './container.ts';

const [EOI, SOS, APP0, APP14, APP15, COM] = [0xd9, 0xda, 0xe0, 0xee, 0xef, 0xfe];
const SCAN_BYTES = 65_536;
const MAX_SEGMENTS = 10_000;
/** Each scan is a pass over all pixels, and a file of a few kilobytes can contain thousands. Real files have at most about twenty. */
const MAX_SCANS = 100;

export async function readJpegContainer(reader: FileReader): Promise<Container> {
  const { keep, ranges } = collectRanges();
  keep(0, 2);
  let at = 2;
  let isUnusual = false;
  let size: Container['size'] = null;
  let [segments, scans] = [0, 0];
  for (;;) {
    const marker = await findMarker(reader, at);
    if (marker.code === EOI) {
      keep(marker.at, marker.at + 2);
      return { parts: ranges, size, isUnusual, frames: 1 };
    }
    const head = await reader.read(marker.at + 2, 12);
    if (head.length < 2) throw new MalformedFileError(TRUNCATED);
    const end = marker.at + 2 + head.readUInt16BE(0);
    if (end < marker.at + 4) throw new MalformedFileError('one of its segments has no length');
    if (end > reader.bytes) throw new MalformedFileError(TRUNCATED);
    if (isImageSegment(marker.code, head)) keep(marker.at, end);
    if (isFrameHeader(marker.code) && head.length >= 7) {
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
    if (segments > MAX_SEGMENTS || scans > MAX_SCANS) throw new MalformedFileError(TOO_MANY_PARTS);
  }
}

/**
 * Finds the next marker that opens a segment or ends the image. Skips entropy-coded data, stuffing, fill bytes, restart markers and stray bytes that
 * some cameras write between segments.
 */
async function findMarker(reader: FileReader, from: number): Promise<{ at: number; code: number }> {
  for (let at = from; ;) {
    const view = await reader.read(at, SCAN_BYTES);
    if (view.length < 2) throw new MalformedFileError(TRUNCATED);
    let found = view.indexOf(0xff);
    while (found >= 0 && found + 1 < view.length) {
      const code = view[found + 1] ?? 0;
      if (code > 0x01 && code < 0xff && (code < 0xd0 || code > 0xd8)) return { at: at + found, code };
      found = view.indexOf(0xff, found + (code === 0xff ? 1 : 2));
    }
    at += found >= 0 ? found : view.length;
  }
}

const isFrameHeader = (code: number): boolean => code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code);

/** Of the application segments, only JFIF and Adobe affect how colours are decoded. */
function isImageSegment(code: number, head: Buffer): boolean {
  if (code === APP0) return head.toString('latin1', 2, 7) === 'JFIF\0';
  if (code === APP14) return head.toString('latin1', 2, 7) === 'Adobe';
  return (code < APP0 || code > APP15) && code !== COM;
}
