// Writes what files carry beside their pixels: ICC profiles and EXIF blocks, with numbers and words the tests choose.
import { u32 } from './png-files.ts';

/** XYZ of red, green and blue, adapted to D50. */
export const SRGB_PRIMARIES = [
  [0.43607, 0.22249, 0.01392],
  [0.38515, 0.71687, 0.09708],
  [0.14307, 0.06061, 0.7141],
];

/** An ICC version 2 matrix profile with one gamma for all channels. */
export function makeProfile({
  primaries = SRGB_PRIMARIES,
  gamma,
  name = 'test',
}: {
  primaries?: number[][];
  gamma: number;
  name?: string;
}): Buffer {
  const fixed = (value: number) => u32(Math.round(value * 65_536));
  const xyz = (values: number[]) => Buffer.concat([Buffer.from('XYZ \0\0\0\0', 'latin1'), ...values.map(fixed)]);
  const curve = Buffer.concat([
    Buffer.from('curv\0\0\0\0\0\0\0\x01', 'latin1'),
    Buffer.from([gamma, Math.round((gamma % 1) * 256), 0, 0]),
  ]);
  const text = Buffer.from(`${name}\0`, 'latin1');
  const description = pad(
    Buffer.concat([Buffer.from('desc\0\0\0\0', 'latin1'), u32(text.length), text, Buffer.alloc(78)]),
  );
  const copyright = pad(Buffer.from('text\0\0\0\0none\0', 'latin1'));
  const tags: [string, Buffer][] = [
    ['desc', description],
    ['cprt', copyright],
    ['wtpt', xyz([0.9642, 1, 0.8249])],
    ['rXYZ', xyz(primaries[0]!)],
    ['gXYZ', xyz(primaries[1]!)],
    ['bXYZ', xyz(primaries[2]!)],
    ['rTRC', curve],
    ['gTRC', curve],
    ['bTRC', curve],
  ];
  let at = 132 + 12 * tags.length;
  const table = tags.map(([tag, data]) => {
    const row = Buffer.concat([Buffer.from(tag, 'latin1'), u32(at), u32(data.length)]);
    at += data.length;
    return row;
  });
  const header = Buffer.alloc(128);
  header.writeUInt32BE(at, 0);
  header.write('\x02\x40\0\0mntrRGB XYZ ', 8, 'latin1');
  header.write('acsp', 36, 'latin1');
  for (const [index, value] of [0.9642, 1, 0.8249].entries()) fixed(value).copy(header, 68 + 4 * index);
  return Buffer.concat([header, u32(tags.length), ...table, ...tags.map(([, data]) => data)]);
}

const pad = (data: Buffer): Buffer => Buffer.concat([data, Buffer.alloc((4 - (data.length % 4)) % 4)]);

/** Puts a segment behind the first two bytes of a JPEG. */
export function withSegment(jpeg: Buffer, marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 255]);
  return Buffer.concat([jpeg.subarray(0, 2), head, data, jpeg.subarray(2)]);
}

/** As JPEG carries it; longer profiles would need several segments. */
export const withProfile = (jpeg: Buffer, profile: Buffer): Buffer =>
  withSegment(jpeg, 0xe2, Buffer.concat([Buffer.from('ICC_PROFILE\0\x01\x01', 'latin1'), profile]));
