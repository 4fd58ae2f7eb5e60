// What a file consists of: which of its bytes make the picture, found without decoding any. The rest is never sent on.

/** From the first byte up to, not including, the last. */
export type Range = readonly [start: number, end: number];

export interface Structure {
  /** What remains when everything but the picture is left out: bytes of the file, and bytes of our own. */
  parts: readonly (Range | Buffer)[];
  /** What the coded picture says of its size; null where the decoder's word is enough. */
  size: { width: number; height: number } | null;
  /** Coded in a way that not every decoder knows. */
  isUnusual: boolean;
  /** Frames of an animation that the decoder does not tell of. */
  frames: number;
}

/** A file that breaks its format; the message completes "…, but ". */
export class StructureError extends Error {
  override readonly name = 'StructureError';
}

export const ENDS_EARLY = 'the file ends before the picture does';
export const TOO_MANY_PIECES = 'it consists of more pieces than any picture needs';

/** Collects ranges, joining those that touch. */
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

/** Whether nothing would be left out. */
export const isWhole = ({ parts }: Structure, bytes: number): boolean => {
  const [first] = parts;
  return parts.length === 1 && Array.isArray(first) && first[0] === 0 && first[1] === bytes;
};
