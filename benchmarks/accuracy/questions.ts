// Multiple choice from TID2013: which of four flaws a picture has, where only one of them was put in.
import type { DistortionCategory } from '../../schemas/vocabulary.ts';
import { createRandom, shuffle } from '../statistics/random.ts';
import { CATEGORY_OF_TYPE, CLEAR_CATEGORIES, type RatedPicture } from './datasets.ts';
import type { Question } from './service.ts';

const OPTIONS = 4;
const LETTERS = ['A', 'B', 'C', 'D'];
const LEAST_LEVEL = 4;

const WORDS: Partial<Record<DistortionCategory, string>> = {
  Noise: 'Noise',
  Blurs: 'Blur',
  Compression: 'Compression artifacts',
  'Brightness change': 'Brightness change',
  Contrast: 'Contrast change',
  'Color distortions': 'Color distortion',
};

export const askableAbout = ({ type, level }: RatedPicture): boolean =>
  type !== null && CATEGORY_OF_TYPE.has(type) && (level ?? 0) >= LEAST_LEVEL;

/** Options stand in the query or in their own field, by turns. */
export function makeQuestion({ type }: RatedPicture, seed: number): { question: Question; right: string } {
  const random = createRandom(seed);
  const category = CATEGORY_OF_TYPE.get(type ?? 0);
  if (!category) throw new TypeError('Expected a picture whose distortion has a clear category');
  const others = shuffle(
    CLEAR_CATEGORIES.filter((other) => other !== category),
    random,
  ).slice(0, OPTIONS - 1);
  const options = shuffle([category, ...others], random);
  const words = options.map((option) => WORDS[option] ?? option);
  const query = 'Which of these distortions does the image have?';
  const question =
    random() < 0.5
      ? { query, choices: words }
      : { query: `${query} ${words.map((word, index) => `${LETTERS[index]!}. ${word}`).join(' ')}` };
  return { question, right: LETTERS[options.indexOf(category)]! };
}
