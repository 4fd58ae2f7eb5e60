// Where the headers of a file begin and end: the places at which a cut hurts most.

/** Offsets between 1 and the file's length, by walking the containers as their standards lay them out. */
export function boundariesOf(name: string, file: Buffer): number[] {
  const walk = WALKERS[name.split('.').at(-1) ?? ''];
  const found = walk ? walk(file) : [];
  return [...new Set([1, 2, 4, ...found])].filter((at) => at > 0 && at < file.length).sort((a, b) => a - b);
}

const WALKERS: Record<string, (file: Buffer) => number[]> = {
  jpg: jpegSegments,
  png: pngChunks,
  webp: riffChunks,
  avif: isoBoxes,
  tiff: tiffDirectory,
  gif: gifBlocks,
  bmp: bmpHeaders,
};

function jpegSegments(file: Buffer): number[] {
  const found: number[] = [];
  for (let at = 2; at + 4 < file.length && file[at] === 0xff;) {
    const end = at + 2 + file.readUInt16BE(at + 2);
    found.push(at, at + 2, at + 4, end - 1);
    if (file[at + 1] === 0xda)
      return [...found, end, end + 1, Math.floor((end + file.length) / 2), file.length - 2, file.length - 1];
    at = end;
  }
  return found;
}

function pngChunks(file: Buffer): number[] {
  const found: number[] = [];
  for (let at = 8; at + 8 < file.length; at += 12 + file.readUInt32BE(at))
    found.push(at, at + 4, at + 8, at + 8 + (file.readUInt32BE(at) >> 1));
  return found;
}

function riffChunks(file: Buffer): number[] {
  const found = [8];
  for (let at = 12; at + 8 < file.length; at += 8 + file.readUInt32LE(at + 4) + (file.readUInt32LE(at + 4) % 2))
    found.push(at, at + 4, at + 8, at + 18);
  return [...found, file.length - 1];
}

function isoBoxes(file: Buffer): number[] {
  const found: number[] = [];
  const walk = (from: number, end: number) => {
    for (let at = from; at + 8 <= end;) {
      const [size, kind] = [file.readUInt32BE(at), file.toString('latin1', at + 4, at + 8)];
      found.push(at, at + 4, at + 8);
      if (size < 8) return;
      if (kind === 'meta') walk(at + 12, at + size);
      if (kind === 'iprp' || kind === 'ipco') walk(at + 8, at + size);
      at += size;
    }
  };
  walk(0, file.length);
  return [...found, file.length - 1];
}

function tiffDirectory(file: Buffer): number[] {
  const at = file.readUInt32LE(4);
  const entries = file.readUInt16LE(at);
  return [
    8,
    at,
    at + 2,
    ...Array.from({ length: Math.min(entries, 20) }, (_, index) => at + 2 + 12 * index + 6),
    at + 2 + 12 * entries,
    at + 4 + 12 * entries,
    file.length - 1,
  ];
}

function gifBlocks(file: Buffer): number[] {
  const table = (file[10] ?? 0) & 0x80 ? 3 * 2 ** (((file[10] ?? 0) & 7) + 1) : 0;
  const first = file.indexOf(0x2c, 13 + table);
  return [
    6,
    10,
    13,
    13 + (table >> 1),
    13 + table,
    first,
    first + 5,
    first + 10,
    first + 11,
    first + 12,
    Math.floor(file.length / 2),
    file.length - 1,
  ];
}

function bmpHeaders(file: Buffer): number[] {
  const pixels = file.readUInt32LE(10);
  return [10, 14, 18, 26, 30, 34, 46, 54, 58, 66, 70, 100, pixels - 1, pixels, pixels + 1, file.length - 1];
}
