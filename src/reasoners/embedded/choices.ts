// Multiple choice: the letter of the option that agrees best with the evidence, or an honest "none of them".
import type { QualityScore } from '../../../schemas/assessment.ts';
import { namedCategories, UNDECIDED, yesOrNo, type Judged, type Verdict } from './answers.ts';
import type { AnswerOption } from './options.ts';
import type { SeverityRules } from './severity-rules.ts';
import { understandQuery, type Understanding, type Vocabulary } from './understanding.ts';
import { nameFinding } from './wording.ts';

export interface ChoiceEvidence {
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
    ?? amongLevels(options, evidence)
    ?? { answer: UNDECIDED, because: 'None of the options can be compared with the evidence.' };
}

/** "Which flaw is worst? A. Blur B. Noise": the option whose distortion ranks highest. */
function amongDistortions(options: readonly AnswerOption[], { relevant, vocabulary, rules }: ChoiceEvidence): Verdict | null {
  const categories = options.map((option) => namedCategories(understandQuery(option.text, vocabulary)));
  if (categories.filter((named) => named.length > 0).length < 2) return null;
  for (const item of relevant) {
    const option = options[categories.findIndex((named) => named.includes(item.type))];
    if (option) return { answer: option.letter, because: item.rank > 0 ? `The evidence shows ${nameFinding(item, rules)}.` : `None of the options is clearly visible; ${option.text} comes closest.` };
  }
  return null;
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
  [/\b(excellent|perfect|very (good|high|sharp|clear|bright)|outstanding|none|not at all|imperceptible|invisible)\b/i, 5],
  [/\b(very (bad|poor|low|blurry|noisy|dark)|bad|terrible|awful|extreme(ly)?|unusable|not (sharp|clear|good)|very annoying)\b/i, 1],
  [/\b(fair(ly)?|average|medium|acceptable|moderate(ly)?|ok(ay)?|so-so|slightly annoying)\b/i, 3],
  [/\b(poor(ly)?|low|severe(ly)?|blurry|noisy|annoying|weak)\b/i, 2],
  [/\b(good|high|sharp|clear|slight(ly)?|fine|well|very|perceptible)\b/i, 4],
];

/** "How sharp is it? A. Good B. Fair C. Poor": the option nearest to the score, or to how little of the distortion there is. */
function amongLevels(options: readonly AnswerOption[], { relevant, score, aboutDistortion }: ChoiceEvidence): Verdict | null {
  const levels = options.map(({ text }) => LEVEL_WORDS.find(([words]) => words.test(text))?.[1] ?? (/^not?\b/i.test(text) ? 1 : null));
  if (levels.filter((level) => level !== null).length < 2) return null;
  const worst = relevant[0];
  const target = aboutDistortion && worst ? 5 - worst.rank : score?.value ?? (worst ? 5 - worst.rank : null);
  if (target === null) return null;
  const distances = levels.map((level) => (level === null ? Infinity : Math.abs(level - target)));
  const option = options[distances.indexOf(Math.min(...distances))];
  return option ? { answer: option.letter, because: `"${option.text}" is nearest to what was measured.` } : null;
}
