// Part of multiple choice: what each answer option says, clause by clause, so that the evidence can be held against it.
import type { DistortionCategory } from '../../../../../schemas/vocabulary.ts';
import type { AnswerOption } from '../../query/answer-options.ts';
import type { Verdict } from '../yes-no.ts';
import { understandQuery, type Vocabulary } from '../../query/parse-query.ts';

export interface Claim {
  category: DistortionCategory;
  /** The side that it means ("underexposure"), or null for the whole. */
  side: string | null;
  /** Whether it says that the distortion is absent ("sharp", "no noise"). */
  praises: boolean;
  /** False for a name alone ("the brightness"), which neither praises nor complains. */
  judges: boolean;
}

/** Options that speak of the other options, or of not knowing. */
export type Remark = 'none' | 'all' | 'equal' | 'unsure';

export interface ReadOption extends AnswerOption {
  claims: Claim[];
  remark: Remark | null;
}

const REMARKS: readonly [Remark, RegExp][] = [
  [
    'unsure',
    /^((i )?(can ?not|can't|do not|don't) (be )?(tell|told|say|said|know|judged?|determined?)|not sure|unsure|unknown|impossible to|not enough)\b/i,
  ],
  [
    'equal',
    /^((they are |it is |its |about |roughly |both )*(the same|same|equal(ly)?|similar|identical|unchanged|no (visible |noticeable )?(difference|change))|as \w+ as)\b/i,
  ],
  ['all', /^(all\b|both\b|everything\b|(a|1) and (b|2)$)/i],
  [
    'none',
    /^(none|neither|nothing|no (\w+ )?(distortions?|flaws?|art[ei]facts?|problems?|issues?|defects?|degradations?|impairments?|errors?))\b/i,
  ],
  [
    'none',
    /^(it |the \w+ )?(is |looks )?(clean|pristine|undistorted|flawless|just right|about right|normal|balanced|fine|correct)$/i,
  ],
];

export function readOptions(options: readonly AnswerOption[], vocabulary: Vocabulary): ReadOption[] {
  return options.map((option) => {
    const remark = REMARKS.find(([, words]) => words.test(option.text))?.[0] ?? null;
    return { ...option, claims: readClaims(option.text, vocabulary), remark };
  });
}

/** "Sharp but noisy" makes two claims; a negation reaches to the end of its clause only. */
export function readClaims(text: string, vocabulary: Vocabulary): Claim[] {
  return text.split(/\b(?:but|and|yet|while|although|though|with)\b|[,;/]/i).flatMap((clause) => {
    const { distortions, sides, polarity } = understandQuery(clause, vocabulary);
    const judgement = { praises: polarity === 'asks_for_virtue', judges: polarity !== null };
    return [...new Set(Object.values(distortions ?? {}).flat())].map((category) => ({
      category,
      side: sides.get(category) ?? null,
      ...judgement,
    }));
  });
}

/** The findings that follow in the answer say why. */
export const fits = ({ letter, text }: AnswerOption): Verdict => ({ answer: letter, because: `"${text}" fits best.` });

/** Options that name distortions. */
export const naming = (options: readonly ReadOption[]): ReadOption[] =>
  options.filter(({ claims }) => claims.length > 0);

export const findRemark = (options: readonly ReadOption[], remark: Remark): ReadOption | undefined =>
  options.find((option) => option.remark === remark);
