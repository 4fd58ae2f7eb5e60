// Asks the service about every held-out image of a fold: the default question and, if answers are checked, multiple choice and comparisons.
import { join } from 'node:path';
import type { Assessment } from '../../schemas/responses/assessment.ts';
import type { Level, Severity } from '../../schemas/vocabulary.ts';
import { createRandom, shuffle } from '../statistics/random.ts';
import type { RatedImage } from './datasets.ts';
import { findPairs, type RatedPair } from './pairs.ts';
import type { Fold, Run } from './plan.ts';
import { hasClearCategory, makeQuestion } from './questions.ts';
import { mapConcurrently, type BenchService } from './service.ts';

export interface Answered {
  image: RatedImage;
  fold: string;
  score: number;
  interval: readonly number[] | null;
  level: Level;
  /** All findings, worst first. */
  findings: readonly { category: string; severity: Severity; strength: number | null }[];
}

export interface Chosen {
  image: RatedImage;
  right: string;
  answered: string;
}

/** Whether /compare named the image with the better rating. */
export interface ComparedPair {
  pair: RatedPair;
  better: 'right' | 'wrong' | 'too close';
}

export interface Collected {
  answers: Answered[];
  unscored: RatedImage[];
  chosen: Chosen[];
  compared: ComparedPair[];
}

export interface CollectOptions {
  concurrency: number;
  seed: number;
  comparisons: number;
}

export async function collectFold(
  run: Run,
  fold: Fold,
  service: BenchService,
  { concurrency, seed, comparisons }: CollectOptions,
): Promise<Collected> {
  const { folder } = run.dataset;
  const getPath = ({ file }: RatedImage): string => join(folder, file);
  const getReference = ({ reference }: RatedImage): string | null =>
    run.withReference && reference !== null ? join(folder, reference) : null;
  const all = await mapConcurrently(fold.images, concurrency, async (image) => ({
    image,
    answer: await service.assess(getPath(image), getReference(image)),
  }));
  const answers = all.flatMap(({ image, answer }) => parseAnswer(image, fold.name, answer) ?? []);
  const unscored = all.filter(({ answer }) => !answer.quality_score).map(({ image }) => image);
  if (!run.checksAnswers) return { answers, unscored, chosen: [], compared: [] };

  const chosen = await mapConcurrently(
    fold.images.filter(hasClearCategory),
    concurrency,
    async (image, index): Promise<Chosen> => {
      const { question, right } = makeQuestion(image, seed + index);
      const { summarizer_result: result } = await service.assess(getPath(image), getReference(image), question);
      return { image, right, answered: result?.final_answer ?? '' };
    },
  );
  const sample = shuffle(findPairs(fold.images), createRandom(seed)).slice(0, comparisons);
  const compared = await mapConcurrently(
    sample,
    Math.max(1, Math.floor(concurrency / 2)),
    async (pair): Promise<ComparedPair> => {
      // The better image is first and second equally often, so that keeping the request's order scores no better than chance.
      const swapped = pair.better.file < pair.worse.file;
      const images = swapped ? [pair.worse, pair.better] : [pair.better, pair.worse];
      const { best } = await service.compare(images.map(getPath), getReference(pair.better));
      return { pair, better: best === null ? 'too close' : best === (swapped ? 2 : 1) ? 'right' : 'wrong' };
    },
  );
  return { answers, unscored, chosen, compared };
}

function parseAnswer(
  image: RatedImage,
  fold: string,
  { quality_score: score, diagnostics }: Assessment,
): Answered | null {
  if (!score) return null;
  const findings = diagnostics.findings.map(({ distortion, severity, strength }) => ({
    category: distortion,
    severity,
    strength,
  }));
  return { image, fold, score: score.value, interval: score.interval, level: score.level, findings };
}
