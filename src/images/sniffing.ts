// Bytes decide what a file is, never its name or declared type: only known raster formats reach a decoder.

export const ACCEPTED_FORMATS = ['jpeg', 'png', 'webp', 'avif', 'tiff', 'gif'] as const;
export type ImageFormat = (typeof ACCEPTED_FORMATS)[number];
export const IMAGE_EXTENSIONS = ['.jpg', '.jpeg', '.png', '.webp', '.avif', '.tif', '.tiff', '.gif'] as const;

/** What the first bytes say: an accepted format, a known one that we do not take (with what to do about it), or nothing known. */
export type Sniffed = { format: ImageFormat } | { refused: string; advice: string } | null;

export const SNIFF_BYTES = 512;

export function sniff(head: Buffer): Sniffed {
  for (const [format, matches] of Object.entries(SIGNATURES)) {
    if (matches(head)) return { format: format as ImageFormat };
  }
  for (const { name, advice, matches } of REFUSED) {
    if (matches(head)) return { refused: name, advice };
  }
  return null;
}

type Matcher = (head: Buffer) => boolean;
const bytes = (...signature: number[]): Matcher => (head) => signature.every((byte, index) => head[index] === byte);
const ascii = (text: string, at = 0): Matcher => (head) => head.toString('latin1', at, at + text.length) === text;
const both = (...matchers: Matcher[]): Matcher => (head) => matchers.every((matches) => matches(head));
const either = (...matchers: Matcher[]): Matcher => (head) => matchers.some((matches) => matches(head));
const brand = (...names: string[]): Matcher => both(ascii('ftyp', 4), either(...names.map((name) => ascii(name, 8))));

const SIGNATURES: Record<ImageFormat, Matcher> = {
  jpeg: bytes(0xff, 0xd8, 0xff),
  png: bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
  webp: both(ascii('RIFF'), ascii('WEBP', 8)),
  avif: brand('avif', 'avis'),
  tiff: either(bytes(0x49, 0x49, 0x2a, 0x00), bytes(0x4d, 0x4d, 0x00, 0x2a)),
  gif: either(ascii('GIF87a'), ascii('GIF89a')),
};

const REFUSED: { name: string; advice: string; matches: Matcher }[] = [
  { name: 'HEIC', advice: 'Convert it to JPEG or PNG', matches: brand('heic', 'heix', 'heim', 'heis', 'hevc', 'mif1', 'msf1') },
  { name: 'BMP', advice: 'Convert it to PNG', matches: ascii('BM') },
  {
    name: 'SVG or other markup',
    advice: 'Render it to PNG first: quality is measured on pixels',
    matches: (head) => /^(\ufeff|\xef\xbb\xbf)?\s*<(\?xml|svg|!doctype|!--|html)/i.test(head.toString('latin1')),
  },
  { name: 'PDF', advice: 'Render the page to PNG first', matches: ascii('%PDF') },
  { name: 'an archive', advice: 'Send the picture itself', matches: either(bytes(0x50, 0x4b, 0x03, 0x04), bytes(0x1f, 0x8b), ascii('7z\xbc\xaf'), ascii('Rar!')) },
];
