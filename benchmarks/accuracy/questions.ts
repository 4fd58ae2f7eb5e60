// Multiple-choice questions from TID2013: which of four distortions an image has, of which only one was applied.
import type { DistortionCategory } from '../../schemas/vocabulary.ts';
import { createRandom, shuffle } from '../statistics/random.ts';
import { CATEGORY_BY_TYPE, CLEAR_CATEGORIES, type RatedImage } from './datasets.ts';
import type { Question } from './service.ts';

const OPTION_COUNT = 4;
const LETTERS = ['A', 'B', 'C', 'D'];
const MIN_LEVEL = 4;

const WORDS: Partial<Record<DistortionCategory, string>> = {
  Noise: 'Noise',
  Blurs: 'Blur',
  Compression: 'Compression artifacts',
  'Brightness change': 'Brightness change',
  Contrast: 'Contrast change',
  'Color distortions': 'Color distortion',
};

export const hasClearCategory = ({ type, level }: RatedImage): boolean =>
  type !== null && CATEGORY_BY_TYPE.has(type) && (level ?? 0) >= MIN_LEVEL;

/** Half of the questions list the options in the query, the others in `choices`. */
export function makeQuestion({ type }: RatedImage, seed: number): { question: Question; right: string } {
  const random = createRandom(seed);
  const category = CATEGORY_BY_TYPE.get(type ?? 0);
  if (!category) throw new TypeError('Expected an image whose distortion has a clear category');
  const others = shuffle(
    CLEAR_CATEGORIES.filter((other) => other !== category),
    random,
  ).slice(0, OPTION_COUNT - 1);
  const options = shuffle([category, ...others], random);
  const words = options.map((option) => WORDS[option] ?? option);
  const query = 'Which of these distortions does the image have?';
  const question =
    random() < 0.5
      ? { query, choices: words }
      : { query: `${query} ${words.map((word, index) => `${LETTERS[index]!}. ${word}`).join(' ')}` };
  return { question, right: LETTERS[options.indexOf(category)]! };
}
