// Pairs of images with the same content whose ratings clearly differ, and how many of them the scores order correctly.
import type { RatedImage } from './datasets.ts';

export interface RatedPair {
  better: RatedImage;
  worse: RatedImage;
}

/** On the data set's own scale. */
const MIN_MOS_DIFFERENCE = 1;

export function findPairs(images: readonly RatedImage[]): RatedPair[] {
  const groups = new Map<string, RatedImage[]>();
  for (const image of images) groups.set(image.group, [...(groups.get(image.group) ?? []), image]);
  return [...groups.values()].flatMap((members) =>
    members.flatMap((first, index) =>
      members.slice(index + 1).flatMap((second): RatedPair[] => {
        if (Math.abs(first.mos - second.mos) < MIN_MOS_DIFFERENCE) return [];
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

export function countRightPairs(answers: readonly { image: RatedImage; score: number }[]): PairFigures {
  const scores = new Map(answers.map(({ image, score }) => [image, score]));
  const pairs = findPairs(answers.map(({ image }) => image));
  const right = pairs.filter(({ better, worse }) => (scores.get(better) ?? NaN) > (scores.get(worse) ?? NaN)).length;
  return { pairs: pairs.length, right, share: right / pairs.length };
}
