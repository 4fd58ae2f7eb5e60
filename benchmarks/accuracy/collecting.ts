// One fold asked: the default question for every held-out picture, and where answers are looked at, questions with options and comparisons.
import { join } from 'node:path';
import type { Assessment } from '../../schemas/responses/assessment.ts';
import type { Level, Severity } from '../../schemas/vocabulary.ts';
import { createRandom, shuffle } from '../statistics/random.ts';
import type { RatedPicture } from './datasets.ts';
import { findPairs, type RatedPair } from './pairs.ts';
import type { Fold, Run } from './plan.ts';
import { askableAbout, makeQuestion } from './questions.ts';
import { mapConcurrently, type BenchService } from './service.ts';

export interface Answered {
  picture: RatedPicture;
  fold: string;
  score: number;
  interval: readonly number[] | null;
  level: Level;
  /** Everything found, worst first. */
  findings: readonly { category: string; severity: Severity; strength: number | null }[];
}

export interface Chosen {
  picture: RatedPicture;
  right: string;
  answered: string;
}

/** Whom /compare called better, beside whom the ratings do. */
export interface ComparedPair {
  pair: RatedPair;
  better: 'right' | 'wrong' | 'too close';
}

export interface Collected {
  answers: Answered[];
  unscored: RatedPicture[];
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
  const pathOf = ({ file }: RatedPicture): string => join(folder, file);
  const referenceOf = ({ reference }: RatedPicture): string | null =>
    run.withReference && reference !== null ? join(folder, reference) : null;
  const all = await mapConcurrently(fold.pictures, concurrency, async (picture) => ({
    picture,
    answer: await service.assess(pathOf(picture), referenceOf(picture)),
  }));
  const answers = all.flatMap(({ picture, answer }) => read(picture, fold.name, answer) ?? []);
  const unscored = all.filter(({ answer }) => !answer.quality_score).map(({ picture }) => picture);
  if (!run.looksAtAnswers) return { answers, unscored, chosen: [], compared: [] };

  const chosen = await mapConcurrently(
    fold.pictures.filter(askableAbout),
    concurrency,
    async (picture, index): Promise<Chosen> => {
      const { question, right } = makeQuestion(picture, seed + index);
      const { summarizer_result: result } = await service.assess(pathOf(picture), referenceOf(picture), question);
      return { picture, right, answered: result?.final_answer ?? '' };
    },
  );
  const sample = shuffle(findPairs(fold.pictures), createRandom(seed)).slice(0, comparisons);
  const compared = await mapConcurrently(
    sample,
    Math.max(1, Math.floor(concurrency / 2)),
    async (pair): Promise<ComparedPair> => {
      // The better one comes second as often as first: a ranking that keeps the order of the request gains nothing.
      const swapped = pair.better.file < pair.worse.file;
      const images = swapped ? [pair.worse, pair.better] : [pair.better, pair.worse];
      const { best } = await service.compare(images.map(pathOf), referenceOf(pair.better));
      return { pair, better: best === null ? 'too close' : best === (swapped ? 2 : 1) ? 'right' : 'wrong' };
    },
  );
  return { answers, unscored, chosen, compared };
}

function read(picture: RatedPicture, fold: string, { quality_score: score, diagnostics }: Assessment): Answered | null {
  if (!score) return null;
  const findings = diagnostics.findings.map(({ distortion, severity, strength }) => ({
    category: distortion,
    severity,
    strength,
  }));
  return { picture, fold, score: score.value, interval: score.interval, level: score.level, findings };
}
