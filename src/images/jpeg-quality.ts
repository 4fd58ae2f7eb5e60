// Estimates a JPEG's quality from its luma quantisation table, for images that are re-encoded before the sidecar reads them.

// ITU-T T.81, table K.1, in zigzag order, as files carry it.
const LUMA_TABLE_K1 = [
  16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18, 17, 16, 19, 24, 40, 26, 24, 22, 22, 24, 49, 35, 37, 29, 40, 58, 51, 61,
  60, 57, 51, 56, 55, 64, 72, 92, 78, 64, 68, 87, 69, 55, 56, 80, 109, 81, 87, 95, 98, 103, 104, 103, 62, 77, 113, 121,
  112, 100, 120, 92, 101, 103, 99,
];

/** The quality from 1 to 100 (IJG scale) with the nearest table, or null without a table in the first bytes of the file. */
export function readJpegQuality(head: Buffer): number | null {
  const table = findLumaTable(head);
  if (!table) return null;
  let best = { quality: 1, distance: Infinity };
  for (let quality = 1; quality <= 100; quality += 1) {
    const scale = quality < 50 ? Math.floor(5000 / quality) : 200 - 2 * quality;
    const distance = LUMA_TABLE_K1.reduce((sum, base, index) => {
      const entry = Math.min(255, Math.max(1, Math.floor((base * scale + 50) / 100)));
      return sum + Math.abs(entry - (table[index] ?? 0));
    }, 0);
    if (distance <= best.distance) best = { quality, distance };
  }
  return best.quality;
}

function findLumaTable(head: Buffer): number[] | null {
  let at = 2;
  while (at + 4 <= head.length && head[at] === 0xff) {
    const marker = head[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === 0xda || marker === 0xd9) return null;
    const end = at + 2 + head.readUInt16BE(at + 2);
    if (marker === 0xdb) {
      const table = parseLumaTable(head.subarray(at + 4, end));
      if (table) return table;
    }
    at = end;
  }
  return null;
}

function parseLumaTable(segment: Buffer): number[] | null {
  let at = 0;
  while (at < segment.length) {
    const descriptor = segment[at] ?? 0;
    const width = descriptor >> 4 === 0 ? 1 : 2;
    const entries = segment.subarray(at + 1, at + 1 + 64 * width);
    if (entries.length < 64 * width) return null;
    if ((descriptor & 15) === 0)
      return Array.from({ length: 64 }, (_, index) =>
        width === 1 ? (entries[index] ?? 0) : entries.readUInt16BE(index * 2),
      );
    at += 1 + 64 * width;
  }
  return null;
}
