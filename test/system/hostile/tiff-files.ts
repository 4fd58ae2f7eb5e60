// Writes TIFF files for the hostile set: directories with whatever tags, counts and loops are asked for.

export interface TiffOptions {
  width: number;
  height: number;
  /** 1 none, 8 deflate. */
  compression: number;
  data: Buffer;
  channels?: number;
  bits?: number;
  extra?: [tag: number, type: number, count: number, value: number][];
  next?: 'itself';
  /** Copies of the same directory, one after the other. */
  pages?: number;
}

/** Little-endian; the directories stand before the pixels. */
export function makeTiff({
  width,
  height,
  compression,
  data,
  channels = 3,
  bits = 8,
  extra = [],
  next,
  pages = 1,
}: TiffOptions): Buffer {
  const tags = (pixels: number): [number, number, number, number][] => [
    [256, 4, 1, width],
    [257, 4, 1, height],
    [258, 3, 1, bits],
    [259, 3, 1, compression],
    [262, 3, 1, channels >= 3 ? 2 : 1],
    [273, 4, 1, pixels],
    [277, 3, 1, channels],
    [278, 4, 1, height],
    [279, 4, 1, data.length],
    ...extra,
  ];
  const entries = tags(0).length;
  const bytes = 2 + 12 * entries + 4;
  const directories = Array.from({ length: pages }, (_, page) => {
    const directory = Buffer.alloc(bytes);
    directory.writeUInt16LE(entries, 0);
    for (const [index, [tag, type, count, value]] of tags(8 + bytes * pages)
      .sort((a, b) => a[0] - b[0])
      .entries()) {
      const at = 2 + 12 * index;
      directory.writeUInt16LE(tag, at);
      directory.writeUInt16LE(type, at + 2);
      directory.writeUInt32LE(count >>> 0, at + 4);
      directory.writeUInt32LE(value >>> 0, at + 8);
    }
    directory.writeUInt32LE(next === 'itself' ? 8 : page + 1 < pages ? 8 + bytes * (page + 1) : 0, bytes - 4);
    return directory;
  });
  const header = Buffer.alloc(8);
  header.write('II*\0', 'latin1');
  header.writeUInt32LE(8, 4);
  return Buffer.concat([header, ...directories, data]);
}
