// Reads what each answer option of a multiple choice claims, clause by clause.
import type { QualityScore } from '../../../../../schemas/responses/assessment.ts';
import type { DistortionCategory } from '../../../../../schemas/vocabulary.ts';
import type { SummaryRequest } from '../../../reasoner.ts';
import type { RankedFinding } from '../../findings/ranking.ts';
import type { SeverityRules } from '../../findings/severity-rules.ts';
import type { AnswerOption } from '../../query/answer-options.ts';
import type { ParsedQuery, QueryParser } from '../../query/parse-query.ts';
import type { Verdict } from '../verdict.ts';

export interface ChoiceEvidence {
  request: SummaryRequest;
  /** Findings about the distortions that the question names, worst first. */
  relevant: readonly RankedFinding[];
  score: QualityScore | null;
  parser: QueryParser;
  rules: SeverityRules;
}

export interface Choice extends ChoiceEvidence {
  options: readonly ReadOption[];
  parsed: ParsedQuery;
  /** The question without its options. */
  stem: string;
}

export interface Claim {
  category: DistortionCategory;
  /** "underexposure", or null for the category as a whole. */
  variant: string | null;
  /** Whether it claims that the distortion is absent ("sharp", "no noise"). */
  praises: boolean;
  /** False for a bare name ("the brightness"), which neither praises nor complains. */
  judges: boolean;
}

/** Options about the other options ("none of these"), or about not knowing. */
type Remark = 'none' | 'all' | 'equal' | 'unsure';

export interface ReadOption extends AnswerOption {
  claims: Claim[];
  remark: Remark | null;
}

const REMARK_PATTERNS: readonly [Remark, RegExp][] = [
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

export function readOptions(options: readonly AnswerOption[], parser: QueryParser): ReadOption[] {
  return options.map((option) => {
    const remark = REMARK_PATTERNS.find(([, words]) => words.test(option.text))?.[0] ?? null;
    return { ...option, claims: readClaims(option.text, parser), remark };
  });
}

/** "Sharp but noisy" makes two claims; a negation applies only within its clause. */
export function readClaims(text: string, parser: QueryParser): Claim[] {
  return text.split(/\b(?:but|and|yet|while|although|though|with)\b|[,;/]/i).flatMap((clause) => {
    const { distortions, variants, polarity } = parser.parseText(clause);
    const judgement = { praises: polarity === 'asks_for_virtue', judges: polarity !== null };
    return [...new Set(Object.values(distortions ?? {}).flat())].map((category) => ({
      category,
      variant: variants.get(category) ?? null,
      ...judgement,
    }));
  });
}

export const chooseBestFit = ({ letter, text }: AnswerOption): Verdict => ({
  answer: letter,
  reason: `"${text}" fits best.`,
});

export const filterNamingDistortions = (options: readonly ReadOption[]): ReadOption[] =>
  options.filter(({ claims }) => claims.length > 0);

export const findRemark = (options: readonly ReadOption[], remark: Remark): ReadOption | undefined =>
  options.find((option) => option.remark === remark);
