// Yes or no to what was asked: the named distortions where there are any, the overall score otherwise.
import type { QualityScore } from '../../../../schemas/responses/assessment.ts';
import { againstReference } from './reference.ts';
import { nameFinding, nounOf, list } from './text/names.ts';
import { rankFindings, type Judged } from '../findings/ranking.ts';
import type { Claim } from './choice/options.ts';
import type { SeverityRules } from '../findings/severity-rules.ts';
import type { Understanding } from '../query/parse-query.ts';

export interface Verdict {
  answer: string;
  /** A sentence of its own, where the answer needs one. */
  because: string | null;
}

export const UNDECIDED = 'Unable to determine';

export interface Grounds {
  score: QualityScore | null;
  rules: SeverityRules;
  query: string;
  hasReference: boolean;
  /** What the question says of each distortion, clause by clause. */
  claims: readonly Claim[];
}

/** Null when neither distortions nor a score can answer. */
export function yesOrNo(understood: Understanding, judged: readonly Judged[], grounds: Grounds): Verdict | null {
  const { distortions, polarity } = understood;
  // "Did the denoising blur it?" asks for blur; noise is only what was treated.
  const effects = judged.filter(({ type }) => !understood.treatments.includes(type));
  const relevant = effects.length > 0 ? effects : judged;
  const { score, rules } = grounds;
  const worst = relevant[0];
  const asksForSeveral = distortions !== null && new Set(relevant.map((item) => item.type)).size > 1;
  if (asksForSeveral) return compare(understood, relevant, grounds) ?? eachOf(understood, relevant, grounds);
  const compared = grounds.hasReference && worst ? againstReference(understood, worst, grounds) : null;
  if (compared) return compared;
  if (distortions && worst) {
    // "Overexposed or underexposed?" is not answered by "no".
    const absent =
      understood.alternatives && !understood.sides.has(worst.type) && !/\bor (not|no)\b/i.test(grounds.query)
        ? 'Neither'
        : 'No';
    const flawed = worst.rank >= 2 ? 'Yes' : worst.rank === 1 ? 'Slightly' : absent;
    const virtuous = worst.rank >= 2 ? 'No' : worst.rank === 1 ? 'Mostly' : 'Yes';
    const noun = nounOf(worst, rules);
    // "Legible or too blurry?" offers two answers, and neither is yes or no.
    if (understood.alternatives && polarity === null) return null;
    // "Slightly: slight blur" would say it twice.
    const told =
      worst.rank === 1 && !/^(low|excessive) /.test(noun)
        ? nameFinding(worst, rules).replace(/^slight /, 'some ')
        : nameFinding(worst, rules);
    return { answer: `${polarity === 'asks_for_virtue' ? virtuous : flawed}: ${told}`, because: null };
  }
  // The named distortions could not be judged: the overall score would answer another question.
  if (distortions) return { answer: UNDECIDED, because: null };
  if (!score) return null;
  const good = score.value >= 3.5 ? 'Yes' : score.value >= 2.5 ? 'Borderline' : 'No';
  const bad = score.value >= 3.5 ? 'No' : score.value >= 2.5 ? 'Somewhat' : 'Yes';
  return {
    answer: `${polarity === 'asks_for_flaw' ? bad : good}: the overall quality is ${score.level.toLowerCase()}`,
    because: null,
  };
}

/** "Is it blurry and noisy?" asks two things at once: both are told, and the first word says whether they agree. */
function eachOf(
  { polarity, alternatives }: Understanding,
  relevant: readonly Judged[],
  { rules, claims }: Grounds,
): Verdict {
  const present = relevant.filter((item) => item.rank > 0);
  const absent = relevant.filter((item) => item.rank === 0);
  const praises = polarity === 'asks_for_virtue';
  const claimed = claims.filter(({ judges }) => judges);
  const agreeing = relevant.filter(
    ({ type, rank }) => (claimed.find(({ category }) => category === type)?.praises ?? praises) === (rank === 0),
  );
  const word =
    agreeing.length === relevant.length
      ? 'Yes'
      : agreeing.length === 0
        ? 'No'
        : alternatives && !praises
          ? 'Yes'
          : 'Partly';
  const told = [
    ...(present.length > 0 ? [list(present.map((item) => nameFinding(item, rules)))] : []),
    ...(absent.length > 0
      ? [
          `no visible ${list([...new Set(absent.map((item) => nameFinding(item, rules).replace(/^no visibl[ey] /, '')))], 'or')}`,
        ]
      : []),
  ];
  // All as the question says it, so that there is no "but".
  return { answer: `${word}: ${told.join(agreeing.length === relevant.length ? ' and ' : ', but ')}`, because: null };
}

const COMPARES = /\b(more|worse|stronger|less|weaker|milder|\w+ier)\b.*\bthan\b/i;

/** "Is the noise worse than the blur?": the first distortion that is named against the second. */
function compare(
  { distortions }: Understanding,
  relevant: readonly Judged[],
  { query, rules }: Grounds,
): Verdict | null {
  const word = COMPARES.exec(query)?.[1];
  const [first, second] = [...new Set(Object.values(distortions ?? {}).flat())].map((category) =>
    relevant.find(({ type }) => type === category),
  );
  if (!word || !first || !second) return null;
  const [worst] = rankFindings([second, first]);
  const isTie = first.rank === second.rank && (first.strength ?? first.rank) === (second.strength ?? second.rank);
  const isMore = !isTie && worst === first;
  const asksForLess = /^(less|weaker|milder)$/i.test(word);
  return {
    answer: `${isTie ? 'No' : isMore !== asksForLess ? 'Yes' : 'No'}: ${nameFinding(first, rules)} and ${nameFinding(second, rules)}`,
    because: null,
  };
}
