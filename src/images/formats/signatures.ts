// Matchers for the first bytes of a file.

export type Matcher = (head: Buffer) => boolean;

export const bytes =
  (...signature: number[]): Matcher =>
  (head) =>
    signature.every((byte, index) => head[index] === byte);
export const ascii =
  (text: string, at = 0): Matcher =>
  (head) =>
    head.toString('latin1', at, at + text.length) === text;
export const both =
  (...matchers: Matcher[]): Matcher =>
  (head) =>
    matchers.every((matches) => matches(head));
export const either =
  (...matchers: Matcher[]): Matcher =>
  (head) =>
    matchers.some((matches) => matches(head));

/** An ISO base media file (AVIF, HEIC, video) whose major or compatible brands include one of these. */
export const brand =
  (...names: string[]): Matcher =>
  (head) =>
    readBrands(head).some((found) => names.includes(found));
/** The same for the major brand only. */
export const majorBrand =
  (...names: string[]): Matcher =>
  (head) =>
    names.includes(readBrands(head)[0] ?? '');

function readBrands(head: Buffer): string[] {
  if (head.length < 16 || head.toString('latin1', 4, 8) !== 'ftyp') return [];
  const end = Math.min(head.readUInt32BE(0), head.length);
  const compatible = Array.from({ length: Math.max(0, Math.floor((end - 16) / 4)) }, (_, index) =>
    head.toString('latin1', 16 + 4 * index, 20 + 4 * index),
  );
  return [head.toString('latin1', 8, 12), ...compatible];
}

/** The tags of a TIFF's first directory with their inline values, as far as the head reaches. */
export function readFirstDirectory(head: Buffer): Map<number, number> {
  const tags = new Map<number, number>();
  const isLittleEndian = head.toString('latin1', 0, 2) === 'II';
  const u16 = (at: number) => (isLittleEndian ? head.readUInt16LE(at) : head.readUInt16BE(at));
  const u32 = (at: number) => (isLittleEndian ? head.readUInt32LE(at) : head.readUInt32BE(at));
  if (head.length < 8 || !['II', 'MM'].includes(head.toString('latin1', 0, 2)) || u16(2) !== 42) return tags;
  const start = u32(4);
  if (start + 2 > head.length) return tags;
  for (let entry = 0; entry < u16(start) && start + 14 + 12 * entry <= head.length; entry += 1) {
    const at = start + 2 + 12 * entry;
    tags.set(u16(at), u16(at + 2) === 3 ? u16(at + 8) : u32(at + 8));
  }
  return tags;
}
