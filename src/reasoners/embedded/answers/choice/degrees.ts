// Multiple choice among degrees: yes and no, level words, and amounts of something wanted or unwanted.
import type { DistortionCategory } from '../../../../../schemas/vocabulary.ts';
import type { Choice } from './choose.ts';
import { rankOf } from '../../findings/ranking.ts';
import { findRemark, fits, readClaims } from './options.ts';
import { nameFinding } from '../text/names.ts';
import { quote } from '../text/sentences.ts';
import { yesOrNo, type Verdict } from '../yes-no.ts';

const YES = /^(yes|true|correct|agree|definitely)\b/i;
const NO = /^(no|false|incorrect|disagree|not at all|not really)\b/i;
const MIDDLE = /^(slightly|somewhat|a (little|bit)|partly|partially|mostly|borderline|maybe|kind of|to some extent)\b/i;

/** One yes, one no and perhaps something between them. Options such as "Yes, noise" and "Yes, blur" are no such pair. */
export function amongYesAndNo({
  options,
  understood,
  relevant,
  request,
  score,
  rules,
  stem,
  vocabulary,
}: Choice): Verdict | null {
  const [yes, secondYes] = options.filter(({ text }) => YES.test(text));
  const [no, secondNo] = options.filter(({ text }) => NO.test(text));
  if (!yes || !no || secondYes || secondNo) return null;
  const verdict = yesOrNo(understood, relevant, {
    score,
    rules,
    query: stem,
    hasReference: request.plan.reference_mode === 'Full-Reference',
    claims: readClaims(stem, vocabulary),
  });
  if (!verdict || !/^(yes|no|neither|slightly|mostly|partly|somewhat|borderline)/i.test(verdict.answer)) return null;
  const middle = options.find(({ text }) => MIDDLE.test(text));
  const between = /^(slightly|mostly|partly|somewhat|borderline)/i.test(verdict.answer) ? middle : undefined;
  const option = between ?? (/^(yes|somewhat|mostly|borderline|partly)/i.test(verdict.answer) ? yes : no);
  return { answer: option.letter, because: `${verdict.answer}.` };
}

const LEVEL_WORDS: readonly [RegExp, number][] = [
  [/\b(excellent|perfect|very (good|clear)|outstanding|superb|imperceptible|invisible)\b/i, 5],
  [/\b(very (bad|poor)|bad|terrible|awful|unusable|not good|very annoying|unacceptable|horrible)\b/i, 1],
  [/\b(fair|average|acceptable|ok(ay)?|so-so|slightly annoying|mediocre|moderate quality)\b/i, 3],
  [/\b(poor(ly)?|annoying|weak|below average)\b/i, 2],
  [/\b(good|fine|well|perceptible|above average)\b/i, 4],
];

/** How good that much of a virtue is, and how good that much of a flaw. */
const AMOUNT_WORDS: readonly [words: RegExp, virtue: number, flaw: number][] = [
  [/\b(not very|barely|hardly|scarcely)\b/i, 2, 4.3],
  [/\b(not at all|none|no|not|absent)\b/i, 1, 5],
  [/\b(extreme(ly)?|completely|totally)\b/i, 5, 1],
  [/\b(very|severe(ly)?|high(ly)?|strong(ly)?|a lot|heav(y|ily)|lots|perfect(ly)?)\b/i, 5, 2],
  [/\b(fairly|quite|rather|pretty|reasonably|mostly)\b/i, 3.8, 3],
  [/\b(medium|moderate(ly)?|normal|average|some)\b/i, 3, 3],
  [/\b(somewhat|partly)\b/i, 2.6, 3.4],
  [/\b(low|slight(ly)?|little|a bit|mild(ly)?|minor|weak(ly)?|few)\b/i, 2, 4],
];

const amountIn = (text: string, isFlaw: boolean): number | null => {
  const found = AMOUNT_WORDS.find(([words]) => words.test(text));
  return found ? found[isFlaw ? 2 : 1] : null;
};

/** On the scale of the levels, for an option that names the property itself: praise lies above fair, complaint below, by how strongly it is put. */
export function degreeOf(text: string, praises: boolean): number {
  const bare = praises ? 4.6 : 2;
  // "Not blurry" praises already: its "not" says no more.
  const amount = amountIn(text.replace(/\b(not|no|isn't|none)\b/gi, ''), !praises);
  if (amount === null) return bare;
  return praises ? Math.max(3.4, amount) : Math.min(4.3, amount);
}

/** "How sharp is it? A. Good B. Fair C. Poor": the option nearest to the score, or to how little of the distortion there is. */
export function amongDegrees(choice: Choice): Verdict | null {
  const { options, understood, relevant, score, rules } = choice;
  const sides = amongSidesOfProperty(choice);
  if (sides) return sides;
  const isFlaw = understood.polarity === 'asks_for_flaw';
  const degrees = options.map(
    ({ text }) => LEVEL_WORDS.find(([words]) => words.test(text))?.[1] ?? amountIn(text, isFlaw),
  );
  if (degrees.filter((degree) => degree !== null).length < 2) return null;
  const worst = relevant[0];
  const byFinding = worst && (understood.distortions !== null || !score) ? 5 - worst.rank : null;
  const target = byFinding ?? score?.value ?? null;
  if (target === null) return null;
  const distances = degrees.map((degree) => (degree === null ? Infinity : Math.abs(degree - target)));
  const nearest = Math.min(...distances);
  const option = options[distances.indexOf(nearest)];
  const measured =
    byFinding !== null && worst
      ? `The evidence shows ${nameFinding(worst, rules)}`
      : `The score is ${quote(score?.value ?? target)} of 5`;
  if (!option) return null;
  return nearest > 1.5
    ? { answer: option.letter, because: `${measured}; no option fits that well, and "${option.text}" is nearest.` }
    : fits(option);
}

/** Properties of which there can be too little and too much. */
const TWO_SIDED: Partial<Record<DistortionCategory, readonly [low: string, high: string]>> = {
  'Brightness change': ['underexposure', 'overexposure'],
  Contrast: ['low contrast', 'excessive contrast'],
  'Color distortions': ['undersaturation', 'oversaturation'],
};

/** "How is the contrast? A. Low B. Normal C. High" asks which side, not how much of a flaw. */
function amongSidesOfProperty({ options, understood, relevant }: Choice): Verdict | null {
  const item = relevant.find(({ type }) => TWO_SIDED[type] !== undefined);
  const sides = item ? TWO_SIDED[item.type] : undefined;
  const low = options.find(({ text }) => /\b(low|dark|dim|little|weak|dull|pale)\b/i.test(text));
  const high = options.find(({ text }) => /\b(high|bright|strong|much|excessive|vivid)\b/i.test(text));
  if (!item || !sides || !low || !high || low === high || understood.polarity !== null) return null;
  const [under, over] = sides.map((side) => rankOf(item.sides[side] ?? 'none')) as [number, number];
  const normal =
    options.find(({ text }) =>
      /\b(normal|medium|moderate|right|balanced|fine|good|average|correct|ok(ay)?)\b/i.test(text),
    ) ?? findRemark(options, 'none');
  if (under === 0 && over === 0) return normal ? fits(normal) : null;
  return fits(under >= over ? low : high);
}
