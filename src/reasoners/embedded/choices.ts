// Multiple choice: the letter of the option that agrees best with the evidence, or an honest "none of them".
import type { QualityScore } from '../../../schemas/assessment.ts';
import type { DistortionCategory } from '../../../schemas/vocabulary.ts';
import { namedCategories, UNDECIDED, yesOrNo, type Verdict } from './answers.ts';
import { narrow, rankOf, type Judged } from './judging.ts';
import type { AnswerOption } from './options.ts';
import type { SeverityRules } from './severity-rules.ts';
import { understandQuery, type Understanding, type Vocabulary } from './understanding.ts';
import { nameFinding } from './wording.ts';

export interface ChoiceEvidence {
  query: string;
  /** What was analysed of what the question asks about, worst first. */
  relevant: readonly Judged[];
  score: QualityScore | null;
  vocabulary: Vocabulary;
  rules: SeverityRules;
  /** Whether the question itself names distortions. */
  aboutDistortion: boolean;
}

export function chooseOption(understood: Understanding, evidence: ChoiceEvidence): Verdict {
  const { options } = understood;
  return amongDistortions(options, evidence)
    ?? amongYesAndNo(options, understood, evidence)
    ?? amongLevels(options, understood, evidence)
    ?? { answer: UNDECIDED, because: 'None of the options can be compared with the evidence.' };
}

interface ReadOption extends AnswerOption {
  categories: DistortionCategory[];
  sides: ReadonlyMap<DistortionCategory, string>;
  praises: boolean;
}

/** "Which flaw is worst? A. Blur B. Noise": the option whose distortion ranks highest. Options that praise name no flaw. */
function amongDistortions(options: readonly AnswerOption[], { query, relevant, vocabulary, rules }: ChoiceEvidence): Verdict | null {
  const read = options.map((option): ReadOption => {
    const understood = understandQuery(option.text, vocabulary);
    return { ...option, categories: namedCategories(understood), sides: understood.sides, praises: understood.polarity === 'asks_for_virtue' };
  });
  const naming = read.filter(({ categories }) => categories.length > 0);
  if (naming.length < 2) return null;
  if (tellSidesApart(naming)) return amongSides(naming, relevant, rules);
  if (new Set(naming.flatMap(({ categories }) => categories.map(axisOf))).size === 1) return alongOneAxis(naming, relevant, rules);
  if (ASKS_FOR_LEAST.test(query.slice(0, query.indexOf(options[0]?.text ?? '')))) return leastOf(naming, relevant, rules);
  const worst = relevant[0];
  const praise = read.find(({ praises }) => praises);
  if (worst?.rank === 0 && praise) return { answer: praise.letter, because: 'No distortion stands out.' };
  for (const item of relevant) {
    const option = naming.find(({ categories, praises }) => !praises && categories.includes(item.type));
    if (!option) continue;
    const shows = `The evidence shows ${nameFinding(item, rules)}.`;
    return { answer: option.letter, because: item.rank > 0 ? shows : `None of the options is clearly visible; ${option.text} comes closest.` };
  }
  return null;
}

/** "A. Too dark B. Too bright": one distortion, and each option names another side of it. */
function tellSidesApart(options: readonly ReadOption[]): boolean {
  const sides = options.map(({ categories, sides: named }) => categories.length === 1 && named.get(categories[0] ?? 'Blurs'));
  return new Set(options.flatMap(({ categories }) => categories)).size === 1 && sides.every((side) => typeof side === 'string') && new Set(sides).size > 1;
}

function amongSides(options: readonly ReadOption[], relevant: readonly Judged[], rules: SeverityRules): Verdict | null {
  const judged = options.flatMap((option) => {
    const [item] = narrow(relevant.filter(({ type }) => option.categories.includes(type)), option.sides);
    return item ? [{ option, item }] : [];
  }).toSorted((a, b) => b.item.rank - a.item.rank || rankOf(b.item.severity) - rankOf(a.item.severity));
  const [best] = judged;
  if (!best) return null;
  const { option, item } = best;
  if (item.rank === 0) return { answer: option.letter, because: `None of the options is clearly visible; ${option.text} comes closest.` };
  return { answer: option.letter, because: `The evidence shows ${nameFinding(item, rules)}.` };
}

const ASKS_FOR_LEAST = /\b(least|not (present|visible|apparent|there)|absent|isn't|is not|NOT)\b/;

function leastOf(options: readonly ReadOption[], relevant: readonly Judged[], rules: SeverityRules): Verdict | null {
  for (const item of relevant.toReversed()) {
    const option = options.find(({ categories }) => categories.includes(item.type));
    if (option) return { answer: option.letter, because: `The evidence shows ${nameFinding(item, rules)}.` };
  }
  return null;
}

/** Blur and lack of sharpness are one thing said twice. */
const axisOf = (category: DistortionCategory): string => (category === 'Sharpness' ? 'Blurs' : category);

/** "A. Very sharp B. Slightly blurry C. Very blurry": all options speak of one property, so the nearest degree of it is right. */
function alongOneAxis(options: readonly ReadOption[], relevant: readonly Judged[], rules: SeverityRules): Verdict | null {
  const axis = axisOf(options[0]?.categories[0] ?? 'Blurs');
  const worst = relevant.find(({ type }) => axisOf(type) === axis);
  if (relevant.length === 0) return null;
  // Looked for and not among what was found: there is none of it.
  const distances = options.map((option) => Math.abs(degreeOf(option) - (5 - (worst?.rank ?? 0))));
  const option = options[distances.indexOf(Math.min(...distances))];
  return option ? { answer: option.letter, because: worst ? `The evidence shows ${nameFinding(worst, rules)}.` : null } : null;
}

/** On the scale of the levels: praise lies above fair, complaint below, each by how strongly it is put. */
function degreeOf({ text, praises }: ReadOption): number {
  const strong = /\b(very|extremely|severe(ly)?|heav(y|ily)|completely|totally|strong(ly)?|perfect(ly)?)\b/i.test(text);
  const weak = /\b(slight(ly)?|a (little|bit)|somewhat|mild(ly)?|barely|minor)\b/i.test(text);
  const medium = /\b(moderate(ly)?|fairly|rather|quite|medium)\b/i.test(text);
  if (praises) return strong ? 5 : weak ? 3.5 : medium ? 4 : 4.6;
  return strong ? 1 : weak ? 3.8 : medium ? 3 : 2;
}

function amongYesAndNo(options: readonly AnswerOption[], understood: Understanding, { relevant, score, rules }: ChoiceEvidence): Verdict | null {
  const yes = options.find((option) => /^yes\b/i.test(option.text));
  const no = options.find((option) => /^no\b/i.test(option.text));
  if (!yes || !no) return null;
  const { answer } = yesOrNo(understood, relevant, score, rules);
  const option = /^(yes|somewhat|mostly|borderline)/i.test(answer) ? yes : no;
  return { answer: option.letter, because: `${answer}.` };
}

const LEVEL_WORDS: readonly [RegExp, number][] = [
  [/\b(excellent|perfect|very (good|clear)|outstanding|imperceptible|invisible)\b/i, 5],
  [/\b(very (bad|poor)|bad|terrible|awful|unusable|not good|very annoying)\b/i, 1],
  [/\b(fair|average|acceptable|ok(ay)?|so-so|slightly annoying)\b/i, 3],
  [/\b(poor(ly)?|annoying|weak)\b/i, 2],
  [/\b(good|fine|well|perceptible)\b/i, 4],
];

/** How much of something, 0 to 4: what that is worth depends on whether it is wanted. */
const AMOUNT_WORDS: readonly [RegExp, number][] = [
  [/\b(none|not at all|no)\b/i, 0],
  [/\b(extreme(ly)?|completely)\b/i, 4],
  [/\b(medium|moderate(ly)?|fairly|somewhat|quite)\b/i, 2],
  [/\b(low|slight(ly)?|little|barely|not very)\b/i, 1],
  [/\b(high(ly)?|severe(ly)?|very|strong(ly)?|a lot)\b/i, 3.5],
  [/\bnot\b/i, 0],
];

/** "How sharp is it? A. Good B. Fair C. Poor": the option nearest to the score, or to how little of the distortion there is. */
function amongLevels(options: readonly AnswerOption[], { polarity }: Understanding, { relevant, score, aboutDistortion }: ChoiceEvidence): Verdict | null {
  const isFlaw = polarity === 'asks_for_flaw';
  const levels = options.map(({ text }) => {
    const level = LEVEL_WORDS.find(([words]) => words.test(text))?.[1];
    const amount = AMOUNT_WORDS.find(([words]) => words.test(text))?.[1];
    return level ?? (amount === undefined ? null : isFlaw ? 5 - amount : 1 + amount);
  });
  if (levels.filter((level) => level !== null).length < 2) return null;
  const worst = relevant[0];
  const target = aboutDistortion && worst ? 5 - worst.rank : score?.value ?? (worst ? 5 - worst.rank : null);
  if (target === null) return null;
  const distances = levels.map((level) => (level === null ? Infinity : Math.abs(level - target)));
  const option = options[distances.indexOf(Math.min(...distances))];
  return option ? { answer: option.letter, because: `"${option.text}" is nearest to what was measured.` } : null;
}
