// Identifies a file by its bytes, never by its name or declared type, so that only known raster formats reach a decoder.
import { ascii, brand, bytes, both, either, type Matcher } from './signatures.ts';
import { UNSUPPORTED_FORMATS } from './unsupported.ts';

/** Every accepted format with its usual extensions, which the documentation lists. */
export const FORMATS = {
  jpeg: ['.jpg', '.jpeg'],
  png: ['.png'],
  webp: ['.webp'],
  avif: ['.avif'],
  tiff: ['.tif', '.tiff'],
  bmp: ['.bmp'],
  gif: ['.gif'],
} as const;
export type ImageFormat = keyof typeof FORMATS;
export const ACCEPTED_FORMATS = Object.keys(FORMATS) as ImageFormat[];

/** An accepted format, a known unsupported one with advice, or null if unknown. */
type Sniffed = { format: ImageFormat } | { unsupported: string; advice: string } | null;

/** Enough for every signature; the farthest is tar's, at 257. */
export const SNIFF_BYTES = 512;

export function sniff(head: Buffer): Sniffed {
  // Checked first: camera raw files look like TIFF, and videos share AVIF's container.
  for (const { name, advice, matches } of UNSUPPORTED_FORMATS) {
    if (matches(head)) return { unsupported: name, advice };
  }
  for (const format of ACCEPTED_FORMATS) {
    if (SIGNATURES[format](head)) return { format };
  }
  return null;
}

const SIGNATURES: Record<ImageFormat, Matcher> = {
  jpeg: bytes(0xff, 0xd8, 0xff),
  png: bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
  webp: both(ascii('RIFF'), ascii('WEBP', 8)),
  avif: brand('avif', 'avis'),
  // The second pair is BigTIFF.
  tiff: either(
    bytes(0x49, 0x49, 0x2a, 0x00),
    bytes(0x4d, 0x4d, 0x00, 0x2a),
    bytes(0x49, 0x49, 0x2b, 0x00),
    bytes(0x4d, 0x4d, 0x00, 0x2b),
  ),
  bmp: (head) => ascii('BM')(head) && head.length >= 18 && head.readUInt32LE(14) <= 124,
  gif: either(ascii('GIF87a'), ascii('GIF89a')),
};
