// How often the intervals of the scores hold the rating: as the scales are, and with the study's scale brought onto that of the scores.
import { mean } from '../statistics/correlation.ts';
import type { Answered } from './collecting.ts';
import { onScale } from './datasets.ts';
import type { Run } from './plan.ts';

export interface IntervalFigures {
  known: number;
  coverage: number | null;
  /** With mean and deviation of the ratings brought to those of the scores, learned from the other half of the contents; null where the models know the study's ratings. */
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

export function coverIntervals(
  { dataset: { scale }, looksAtAnswers }: Run,
  answers: readonly Answered[],
): IntervalFigures {
  const known = answers.flatMap(({ interval, score, picture: { group, mos } }): Bounded[] =>
    interval ? [{ group, score, low: interval[0] ?? NaN, high: interval[1] ?? NaN, rating: onScale(mos, scale) }] : [],
  );
  if (known.length === 0) return { known: 0, coverage: null, aligned: null, mean_width: null };
  return {
    known: known.length,
    coverage: shareInside(known),
    aligned: looksAtAnswers ? shareInside(align(known)) : null,
    mean_width: mean(known.map(({ low, high }) => high - low)),
  };
}

const shareInside = (answers: readonly Bounded[]): number =>
  answers.filter(({ low, high, rating }) => rating >= low && rating <= high).length / answers.length;

/** Another study's raters had another idea of what is a 1 and what is a 5; that is no error of a score whose models never saw them. */
function align(answers: readonly Bounded[]): Bounded[] {
  const groups = [...new Set(answers.map(({ group }) => group))].toSorted();
  const halves = [0, 1].map((rest) => answers.filter(({ group }) => groups.indexOf(group) % 2 === rest));
  return halves.flatMap((half, index) => {
    const other = halves[1 - index] ?? [];
    const scores = momentsOf(other.map(({ score }) => score));
    const ratings = momentsOf(other.map(({ rating }) => rating));
    return half.map((answer) => ({
      ...answer,
      rating: Math.min(
        5,
        Math.max(1, scores.mean + ((answer.rating - ratings.mean) * scores.deviation) / ratings.deviation),
      ),
    }));
  });
}

function momentsOf(values: readonly number[]): { mean: number; deviation: number } {
  const center = mean(values);
  return { mean: center, deviation: Math.sqrt(mean(values.map((value) => (value - center) ** 2))) };
}
