// Answers a multiple choice among degrees: yes and no, level words, and amounts of a flaw or a virtue.
import type { DistortionCategory } from '../../../../../schemas/vocabulary.ts';
import { severityRank } from '../../findings/ranking.ts';
import { chooseBestFit, findRemark, readClaims, type Choice } from './options.ts';
import { nameFinding } from '../text/names.ts';
import { formatScore } from '../text/sentences.ts';
import type { Verdict } from '../verdict.ts';
import { answerYesNo } from '../yes-no.ts';

const YES_OPTION = /^(yes|true|correct|agree|definitely)\b/i;
const NO_OPTION = /^(no|false|incorrect|disagree|not at all|not really)\b/i;
const MIDDLE_OPTION =
  /^(slightly|somewhat|a (little|bit)|partly|partially|mostly|borderline|maybe|kind of|to some extent)\b/i;

/** Exactly one yes and one no, with or without something between. "Yes, noise" and "Yes, blur" is not such a pair. */
export function chooseYesNo({
  options,
  parsed,
  relevant,
  request,
  score,
  rules,
  stem,
  parser,
}: Choice): Verdict | null {
  const [yes, secondYes] = options.filter(({ text }) => YES_OPTION.test(text));
  const [no, secondNo] = options.filter(({ text }) => NO_OPTION.test(text));
  if (!yes || !no || secondYes || secondNo) return null;
  const verdict = answerYesNo(parsed, relevant, {
    score,
    rules,
    query: stem,
    hasReference: request.plan.reference_mode === 'Full-Reference',
    claims: readClaims(stem, parser),
  });
  if (!verdict || !/^(yes|no|neither|slightly|mostly|partly|somewhat|borderline)/i.test(verdict.answer)) return null;
  const middle = options.find(({ text }) => MIDDLE_OPTION.test(text));
  const between = /^(slightly|mostly|partly|somewhat|borderline)/i.test(verdict.answer) ? middle : undefined;
  const option = between ?? (/^(yes|somewhat|mostly|borderline|partly)/i.test(verdict.answer) ? yes : no);
  return chooseBestFit(option);
}

const LEVEL_WORDS: readonly [RegExp, number][] = [
  [/\b(excellent|perfect|very (good|clear)|outstanding|superb|imperceptible|invisible)\b/i, 5],
  [/\b(very (bad|poor)|bad|terrible|awful|unusable|not good|very annoying|unacceptable|horrible)\b/i, 1],
  [/\b(fair|average|acceptable|ok(ay)?|so-so|slightly annoying|mediocre|moderate quality)\b/i, 3],
  [/\b(poor(ly)?|annoying|weak|below average)\b/i, 2],
  [/\b(good|fine|well|perceptible|above average)\b/i, 4],
];

/** On the scale of the levels (1 to 5): how good this much of a virtue is, and this much of a flaw. */
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

const readAmount = (text: string, isFlaw: boolean): number | null => {
  const found = AMOUNT_WORDS.find(([words]) => words.test(text));
  return found ? found[isFlaw ? 2 : 1] : null;
};

/** The level (1 to 5) of an option that names the property itself: praise lies above fair, a complaint below. */
export function readDegree(text: string, praises: boolean): number {
  const bare = praises ? 4.6 : 2;
  // The "not" of "not blurry" is already counted as praise.
  const amount = readAmount(text.replace(/\b(not|no|isn't|none)\b/gi, ''), !praises);
  if (amount === null) return bare;
  return praises ? Math.max(3.4, amount) : Math.min(4.3, amount);
}

/** "How sharp is it? A. Good B. Fair C. Poor": the option nearest to the score, or to the severity of the distortion. */
export function chooseDegree(choice: Choice): Verdict | null {
  const { options, parsed, relevant, score, rules } = choice;
  const byVariant = chooseVariant(choice);
  if (byVariant) return byVariant;
  const isFlaw = parsed.polarity === 'asks_for_flaw';
  const degrees = options.map(
    ({ text }) => LEVEL_WORDS.find(([words]) => words.test(text))?.[1] ?? readAmount(text, isFlaw),
  );
  if (degrees.filter((degree) => degree !== null).length < 2) return null;
  const worst = relevant[0];
  const byFinding = worst && (parsed.distortions !== null || !score) ? 5 - worst.rank : null;
  const target = byFinding ?? score?.value ?? null;
  if (target === null) return null;
  const distances = degrees.map((degree) => (degree === null ? Infinity : Math.abs(degree - target)));
  const nearest = Math.min(...distances);
  const option = options[distances.indexOf(nearest)];
  const measured =
    byFinding !== null && worst
      ? `The measurements show ${nameFinding(worst, rules)}`
      : `The score is ${formatScore(score?.value ?? target)} out of 5`;
  if (!option) return null;
  return nearest > 1.5
    ? { answer: option.letter, reason: `${measured}; no option fits well, and "${option.text}" is closest.` }
    : chooseBestFit(option);
}

/** Properties with too little as one variant and too much as the other. */
const LOW_AND_HIGH_VARIANTS: Partial<Record<DistortionCategory, readonly [low: string, high: string]>> = {
  'Brightness change': ['underexposure', 'overexposure'],
  Contrast: ['low contrast', 'excessive contrast'],
  'Color distortions': ['undersaturation', 'oversaturation'],
};

/** "How is the contrast? A. Low B. Normal C. High" asks for the direction, not for the amount of a flaw. */
function chooseVariant({ options, parsed, relevant }: Choice): Verdict | null {
  const item = relevant.find(({ type }) => LOW_AND_HIGH_VARIANTS[type] !== undefined);
  const variants = item ? LOW_AND_HIGH_VARIANTS[item.type] : undefined;
  const low = options.find(({ text }) => /\b(low|dark|dim|little|weak|dull|pale)\b/i.test(text));
  const high = options.find(({ text }) => /\b(high|bright|strong|much|excessive|vivid)\b/i.test(text));
  if (!item || !variants || !low || !high || low === high || parsed.polarity !== null) return null;
  const [under, over] = variants.map((name) => severityRank(item.variants[name] ?? 'none')) as [number, number];
  const normal =
    options.find(({ text }) =>
      /\b(normal|medium|moderate|right|balanced|fine|good|average|correct|ok(ay)?)\b/i.test(text),
    ) ?? findRemark(options, 'none');
  if (under === 0 && over === 0) return normal ? chooseBestFit(normal) : null;
  return chooseBestFit(under >= over ? low : high);
}
