// The parsed container of a file: which byte ranges hold the image, found without decoding. All other bytes are dropped.

/** Byte offsets; the end is exclusive. */
export type Range = readonly [start: number, end: number];

export interface Container {
  /** The stripped file in order: byte ranges of the original, and buffers of our own. */
  parts: readonly (Range | Buffer)[];
  /** Size in pixels as the encoded image declares it; null where the decoder reads it. */
  size: { width: number; height: number } | null;
  /** Uses an encoding that not every decoder supports. */
  isUnusual: boolean;
  /** Frames of an animation that the decoder does not report. */
  frames: number;
}

/** A file that breaks its format; the message completes "…, but ". */
export class MalformedFileError extends Error {
  override readonly name = 'MalformedFileError';
}

export const TRUNCATED = 'the file ends before the image does';
export const TOO_MANY_PARTS = 'it has more segments than any image needs';

/** Collects ranges and merges adjacent ones. */
export function collectRanges(): { keep: (start: number, end: number) => void; ranges: Range[] } {
  const ranges: Range[] = [];
  return {
    ranges,
    keep(start, end) {
      const last = ranges.at(-1);
      if (last?.[1] === start) ranges[ranges.length - 1] = [last[0], end];
      else ranges.push([start, end]);
    },
  };
}

export const coversWholeFile = ({ parts }: Container, bytes: number): boolean => {
  const [first] = parts;
  return parts.length === 1 && Array.isArray(first) && first[0] === 0 && first[1] === bytes;
};
