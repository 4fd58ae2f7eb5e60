// Builds the header of an uncompressed 8-bit TIFF, for pixels decoded from a BMP.

interface TiffContent {
  width: number;
  height: number;
  channels: 3 | 4;
  /** ICC profile. */
  profile: Buffer | null;
}

const [SHORT, LONG, UNDEFINED] = [3, 4, 7];

/** Baseline TIFF 6.0, little-endian, one strip; the pixels follow directly. */
export function buildTiffHeader({ width, height, channels, profile }: TiffContent): Buffer {
  const bitsOffset = 8;
  const profileOffset = bitsOffset + 8;
  const profileBytes = profile?.length ?? 0;
  const directory = profileOffset + profileBytes + (profileBytes % 2);
  const entries = (pixels: number): [tag: number, type: number, count: number, value: number][] => [
    [256, LONG, 1, width],
    [257, LONG, 1, height],
    [258, SHORT, channels, bitsOffset],
    [259, SHORT, 1, 1],
    [262, SHORT, 1, 2],
    [273, LONG, 1, pixels],
    [277, SHORT, 1, channels],
    [278, LONG, 1, height],
    [279, LONG, 1, width * height * channels],
    // Unassociated (not premultiplied) alpha.
    ...(channels === 4 ? [[338, SHORT, 1, 2] as [number, number, number, number]] : []),
    ...(profile ? [[34_675, UNDEFINED, profileBytes, profileOffset] as [number, number, number, number]] : []),
  ];
  const end = directory + 2 + 12 * entries(0).length + 4;
  const header = Buffer.alloc(end);
  header.write('II*\0', 0, 'latin1');
  header.writeUInt32LE(directory, 4);
  for (let channel = 0; channel < 4; channel += 1) header.writeUInt16LE(8, bitsOffset + 2 * channel);
  profile?.copy(header, profileOffset);
  header.writeUInt16LE(entries(0).length, directory);
  for (const [index, [tag, type, count, value]] of entries(end).entries()) {
    const at = directory + 2 + 12 * index;
    header.writeUInt16LE(tag, at);
    header.writeUInt16LE(type, at + 2);
    header.writeUInt32LE(count, at + 4);
    header.writeUInt32LE(value, at + 8);
  }
  return header;
}
