// Answers yes/no questions: by the distortions that the question names, or by the overall score.
import type { QualityScore } from '../../../../schemas/responses/assessment.ts';
import { rankFindings, type RankedFinding } from '../findings/ranking.ts';
import type { SeverityRules } from '../findings/severity-rules.ts';
import type { ParsedQuery } from '../query/parse-query.ts';
import type { Claim } from './choice/options.ts';
import { answerReferenceComparison } from './reference.ts';
import { joinWords, nameFinding } from './text/names.ts';
import { UNDECIDED, type Verdict } from './verdict.ts';

interface YesNoEvidence {
  score: QualityScore | null;
  rules: SeverityRules;
  query: string;
  hasReference: boolean;
  /** What the question claims about each distortion, clause by clause. */
  claims: readonly Claim[];
}

/** Null when neither distortions nor a score can answer. */
export function answerYesNo(
  parsed: ParsedQuery,
  findings: readonly RankedFinding[],
  evidence: YesNoEvidence,
): Verdict | null {
  // "Did the denoising blur it?" asks about blur, not about the noise that was treated.
  const effects = findings.filter(({ type }) => !parsed.treatments.includes(type));
  const relevant = effects.length > 0 ? effects : findings;
  const worst = relevant[0];
  const namesSeveral = parsed.distortions !== null && new Set(relevant.map((item) => item.type)).size > 1;
  if (namesSeveral) return answerComparison(parsed, relevant, evidence) ?? answerEach(parsed, relevant, evidence);
  const compared = evidence.hasReference && worst ? answerReferenceComparison(parsed, worst, evidence) : null;
  if (compared) return compared;
  if (parsed.distortions === null) return answerByScore(parsed, evidence);
  // Without a finding the overall score would answer a different question.
  return worst ? answerByFinding(parsed, worst, evidence) : { answer: UNDECIDED, reason: null };
}

function answerByFinding(
  { polarity, alternatives, variants }: ParsedQuery,
  worst: RankedFinding,
  { query, rules }: YesNoEvidence,
): Verdict | null {
  // "Legible or too blurry?" offers two answers, neither of which is yes or no.
  if (alternatives && polarity === null) return null;
  // "Overexposed or underexposed?" is not answered by "no".
  const absent = alternatives && !variants.has(worst.type) && !/\bor (not|no)\b/i.test(query) ? 'Neither' : 'No';
  const ifFlawAsked = worst.rank >= 2 ? 'Yes' : worst.rank === 1 ? 'Slightly' : absent;
  const ifVirtueAsked = worst.rank >= 2 ? 'No' : worst.rank === 1 ? 'Mostly' : 'Yes';
  // "Slightly: slight blur" would say it twice.
  const finding = nameFinding(worst, rules).replace(/^slight /, 'some ');
  return { answer: `${polarity === 'asks_for_virtue' ? ifVirtueAsked : ifFlawAsked}: ${finding}`, reason: null };
}

function answerByScore({ polarity }: ParsedQuery, { score }: YesNoEvidence): Verdict | null {
  if (!score) return null;
  const ifGoodAsked = score.value >= 3.5 ? 'Yes' : score.value >= 2.5 ? 'Borderline' : 'No';
  const ifBadAsked = score.value >= 3.5 ? 'No' : score.value >= 2.5 ? 'Somewhat' : 'Yes';
  return {
    answer: `${polarity === 'asks_for_flaw' ? ifBadAsked : ifGoodAsked}: the overall quality is ${score.level.toLowerCase()}`,
    reason: null,
  };
}

/** "Is it blurry and noisy?": names both findings; the first word says whether both agree with the question. */
function answerEach(
  { polarity, alternatives }: ParsedQuery,
  relevant: readonly RankedFinding[],
  { rules, claims }: YesNoEvidence,
): Verdict {
  const present = relevant.filter((item) => item.rank > 0);
  const absent = relevant.filter((item) => item.rank === 0);
  const praises = polarity === 'asks_for_virtue';
  const claimed = claims.filter(({ judges }) => judges);
  const agreeing = relevant.filter(
    ({ type, rank }) => (claimed.find(({ category }) => category === type)?.praises ?? praises) === (rank === 0),
  );
  const allAgree = agreeing.length === relevant.length;
  const word = allAgree ? 'Yes' : agreeing.length === 0 ? 'No' : alternatives && !praises ? 'Yes' : 'Partly';
  const absentNames = new Set(absent.map((item) => nameFinding(item, rules).replace(/^no visible /, '')));
  const parts = [
    ...(present.length > 0 ? [joinWords(present.map((item) => nameFinding(item, rules)))] : []),
    ...(absent.length > 0 ? [`no visible ${joinWords([...absentNames], 'or')}`] : []),
  ];
  return { answer: `${word}: ${parts.join(allAgree ? ' and ' : ', but ')}`, reason: null };
}

const COMPARATIVE = /\b(more|worse|stronger|less|weaker|milder|\w+ier)\b.*\bthan\b/i;

/** "Is the noise worse than the blur?": compares the first distortion named with the second. */
function answerComparison(
  { distortions }: ParsedQuery,
  relevant: readonly RankedFinding[],
  { query, rules }: YesNoEvidence,
): Verdict | null {
  const word = COMPARATIVE.exec(query)?.[1];
  const [first, second] = [...new Set(Object.values(distortions ?? {}).flat())].map((category) =>
    relevant.find(({ type }) => type === category),
  );
  if (!word || !first || !second) return null;
  const [worst] = rankFindings([second, first]);
  const isTie = first.rank === second.rank && (first.strength ?? first.rank) === (second.strength ?? second.rank);
  const isMore = !isTie && worst === first;
  const asksForLess = /^(less|weaker|milder)$/i.test(word);
  return {
    answer: `${!isTie && isMore !== asksForLess ? 'Yes' : 'No'}: ${nameFinding(first, rules)} and ${nameFinding(second, rules)}`,
    reason: null,
  };
}
