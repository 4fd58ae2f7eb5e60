// Measures how often the intervals contain the rating: on the given scales, and with the study's scale aligned to that of the scores.
import { mean } from '../statistics/correlation.ts';
import type { Answered } from './collect.ts';
import { rescaleRating } from './datasets.ts';
import type { Run } from './plan.ts';

export interface IntervalFigures {
  known: number;
  coverage: number | null;
  /** Mean and deviation of the ratings aligned to those of the scores, fitted on the other half of the contents; null if the models were trained on the study's ratings. */
  aligned: number | null;
  mean_width: number | null;
}

interface Bounded {
  group: string;
  score: number;
  low: number;
  high: number;
  rating: number;
}

export function measureCoverage(
  { dataset: { scale }, checksAnswers }: Run,
  answers: readonly Answered[],
): IntervalFigures {
  const known = answers.flatMap(({ interval, score, image: { group, mos } }): Bounded[] =>
    interval
      ? [{ group, score, low: interval[0] ?? NaN, high: interval[1] ?? NaN, rating: rescaleRating(mos, scale) }]
      : [],
  );
  if (known.length === 0) return { known: 0, coverage: null, aligned: null, mean_width: null };
  return {
    known: known.length,
    coverage: computeCoverage(known),
    aligned: checksAnswers ? computeCoverage(align(known)) : null,
    mean_width: mean(known.map(({ low, high }) => high - low)),
  };
}

const computeCoverage = (answers: readonly Bounded[]): number =>
  answers.filter(({ low, high, rating }) => rating >= low && rating <= high).length / answers.length;

/** Raters of another study use their scale differently, which a score fitted without their ratings cannot know. */
function align(answers: readonly Bounded[]): Bounded[] {
  const groups = [...new Set(answers.map(({ group }) => group))].toSorted();
  const halves = [0, 1].map((rest) => answers.filter(({ group }) => groups.indexOf(group) % 2 === rest));
  return halves.flatMap((half, index) => {
    const other = halves[1 - index] ?? [];
    const scores = computeMoments(other.map(({ score }) => score));
    const ratings = computeMoments(other.map(({ rating }) => rating));
    return half.map((answer) => ({
      ...answer,
      rating: Math.min(
        5,
        Math.max(1, scores.mean + ((answer.rating - ratings.mean) * scores.deviation) / ratings.deviation),
      ),
    }));
  });
}

function computeMoments(values: readonly number[]): { mean: number; deviation: number } {
  const center = mean(values);
  return { mean: center, deviation: Math.sqrt(mean(values.map((value) => (value - center) ** 2))) };
}
