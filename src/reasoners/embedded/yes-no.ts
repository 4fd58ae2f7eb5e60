// Yes or no to what was asked: the named distortions where there are any, the overall score otherwise.
import type { QualityScore } from '../../../schemas/assessment.ts';
import { nameFinding, nounOf, list } from './phrasing.ts';
import type { Judged } from './judging.ts';
import type { SeverityRules } from './severity-rules.ts';
import type { Understanding } from './understanding.ts';

export interface Verdict {
  answer: string;
  /** A sentence of its own, where the answer needs one. */
  because: string | null;
}

export const UNDECIDED = 'Unable to determine';

/** Null when neither distortions nor a score can answer. */
export function yesOrNo(understood: Understanding, relevant: readonly Judged[], score: QualityScore | null, rules: SeverityRules): Verdict | null {
  const { distortions, polarity } = understood;
  const worst = relevant[0];
  if (distortions && new Set(relevant.map((item) => item.type)).size > 1) return eachOf(understood, relevant, rules);
  if (distortions && worst) {
    const flawed = worst.rank >= 2 ? 'Yes' : worst.rank === 1 ? 'Slightly' : 'No';
    const virtuous = worst.rank >= 2 ? 'No' : worst.rank === 1 ? 'Mostly' : 'Yes';
    return { answer: `${polarity === 'asks_for_virtue' ? virtuous : flawed}: ${nameFinding(worst, rules)}`, because: null };
  }
  // The named distortions could not be judged: the overall score would answer another question.
  if (distortions) return { answer: UNDECIDED, because: null };
  if (!score) return null;
  const good = score.value >= 3.5 ? 'Yes' : score.value >= 2.5 ? 'Borderline' : 'No';
  const bad = score.value >= 3.5 ? 'No' : score.value >= 2.5 ? 'Somewhat' : 'Yes';
  return { answer: `${polarity === 'asks_for_flaw' ? bad : good}: the overall quality is ${score.level.toLowerCase()}`, because: null };
}

/** "Is it blurry and noisy?" asks two things at once: both are told, and the first word says whether they agree. */
function eachOf({ polarity, alternatives }: Understanding, relevant: readonly Judged[], rules: SeverityRules): Verdict {
  const present = relevant.filter((item) => item.rank > 0);
  const absent = relevant.filter((item) => item.rank === 0);
  const praises = polarity === 'asks_for_virtue';
  const agreed = present.length === 0 ? (praises ? 'Yes' : 'No') : praises ? 'No' : 'Yes';
  const word = present.length === 0 || absent.length === 0 || (alternatives && !praises) ? agreed : 'Partly';
  const told = [
    ...(present.length > 0 ? [list(present.map((item) => nameFinding(item, rules)))] : []),
    ...(absent.length > 0 ? [`no visible ${list([...new Set(absent.map((item) => nounOf(item, rules)))], 'or')}`] : []),
  ];
  return { answer: `${word}: ${told.join(', but ')}`, because: null };
}
