// Pairs of pictures of the same content that people rate clearly apart: is their order right?
import type { RatedPicture } from './datasets.ts';

export interface RatedPair {
  better: RatedPicture;
  worse: RatedPicture;
}

/** Difference of MOS, on the data set's own scale. */
const LEAST_DIFFERENCE = 1;

export function findPairs(pictures: readonly RatedPicture[]): RatedPair[] {
  const groups = new Map<string, RatedPicture[]>();
  for (const picture of pictures) groups.set(picture.group, [...(groups.get(picture.group) ?? []), picture]);
  return [...groups.values()].flatMap((members) =>
    members.flatMap((first, index) =>
      members.slice(index + 1).flatMap((second): RatedPair[] => {
        if (Math.abs(first.mos - second.mos) < LEAST_DIFFERENCE) return [];
        return [first.mos > second.mos ? { better: first, worse: second } : { better: second, worse: first }];
      }),
    ),
  );
}

export interface PairFigures {
  pairs: number;
  /** Equal scores count as wrong. */
  right: number;
  share: number;
}

export function countRightPairs(answers: readonly { picture: RatedPicture; score: number }[]): PairFigures {
  const scores = new Map(answers.map(({ picture, score }) => [picture, score]));
  const pairs = findPairs(answers.map(({ picture }) => picture));
  const right = pairs.filter(({ better, worse }) => (scores.get(better) ?? NaN) > (scores.get(worse) ?? NaN)).length;
  return { pairs: pairs.length, right, share: right / pairs.length };
}
