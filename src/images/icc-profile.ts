// Tells from an ICC profile's primaries and curves, not from its name, whether it is sRGB.

export type ProfileKind = 'srgb' | 'other' | 'broken';

/** sRGB's primaries adapted to D50, as profiles carry them: IEC 61966-2-1 by the Bradford transform. */
const PRIMARIES: Record<string, readonly number[]> = {
  rXYZ: [0.43607, 0.22249, 0.01392],
  gXYZ: [0.38515, 0.71687, 0.09708],
  bXYZ: [0.14307, 0.06061, 0.7141],
};
/** Published sRGB profiles differ by up to 0.0007; the next common space, Display P3, by 0.08. */
const PRIMARY_TOLERANCE = 0.003;
/** Of linear light; a plain gamma of 2.2 stays within 0.006 and is up to two levels of 255 away. */
const CURVE_TOLERANCE = 0.004;
const PROBE_VALUES = [0.02, 0.1, 0.25, 0.5, 0.75, 0.9];
const MAX_TAGS = 200;

export function classifyProfile(profile: Buffer): ProfileKind {
  try {
    if (profile.length < 132 || profile.toString('latin1', 36, 40) !== 'acsp') return 'broken';
    if (profile.readUInt32BE(0) > profile.length) return 'broken';
    const tags = readTags(profile);
    if (profile.toString('latin1', 16, 20) !== 'RGB ' || tags.has('A2B0')) return 'other';
    return hasSrgbPrimaries(tags) && hasSrgbCurves(tags) ? 'srgb' : 'other';
  } catch (error) {
    if (error instanceof RangeError) return 'broken';
    throw error;
  }
}

type Tags = ReadonlyMap<string, Buffer>;

function readTags(profile: Buffer): Tags {
  const count = profile.readUInt32BE(128);
  if (count > MAX_TAGS) throw new RangeError('more tags than any profile has');
  return new Map(
    Array.from({ length: count }, (_, index) => {
      const at = 132 + 12 * index;
      const [start, bytes] = [profile.readUInt32BE(at + 4), profile.readUInt32BE(at + 8)];
      if (start + bytes > profile.length) throw new RangeError('a tag outside of the profile');
      return [profile.toString('latin1', at, at + 4), profile.subarray(start, start + bytes)];
    }),
  );
}

function hasSrgbPrimaries(tags: Tags): boolean {
  return Object.entries(PRIMARIES).every(([name, expected]) => {
    const tag = tags.get(name);
    return (
      tag !== undefined &&
      expected.every((value, index) => Math.abs(tag.readInt32BE(8 + 4 * index) / 65_536 - value) < PRIMARY_TOLERANCE)
    );
  });
}

function hasSrgbCurves(tags: Tags): boolean {
  return ['rTRC', 'gTRC', 'bTRC'].every((name) => {
    const tag = tags.get(name);
    return (
      tag !== undefined &&
      PROBE_VALUES.every((value) => Math.abs(evaluateCurve(tag, value) - linearize(value)) < CURVE_TOLERANCE)
    );
  });
}

const linearize = (value: number): number => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);

/** ICC.1:2022, 10.6 (curv) and 10.18 (para). */
function evaluateCurve(tag: Buffer, value: number): number {
  const kind = tag.toString('latin1', 0, 4);
  if (kind === 'curv') return evaluateTable(tag, value);
  if (kind !== 'para') return NaN;
  const type = tag.readUInt16BE(8);
  const parameter = (index: number): number => tag.readInt32BE(12 + 4 * index) / 65_536;
  if (type === 0) return value ** parameter(0);
  if (type !== 3) return NaN;
  const [gamma = 1, a = 1, b = 0, c = 0, d = 0] = [0, 1, 2, 3, 4].map(parameter);
  return value >= d ? (a * value + b) ** gamma : c * value;
}

function evaluateTable(tag: Buffer, value: number): number {
  const count = tag.readUInt32BE(8);
  if (count === 0) return value;
  if (count === 1) return value ** (tag.readUInt16BE(12) / 256);
  const position = value * (count - 1);
  const below = Math.floor(position);
  const at = (index: number): number => tag.readUInt16BE(12 + 2 * Math.min(index, count - 1)) / 65_535;
  return at(below) + (position - below) * (at(below + 1) - at(below));
}
