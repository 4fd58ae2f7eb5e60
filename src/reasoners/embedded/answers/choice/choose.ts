// Multiple choice: the letter of the option that agrees best with the evidence, or an honest "none of them".
import type { QualityScore } from '../../../../../schemas/responses/assessment.ts';
import type { SummaryRequest } from '../../../reasoner.ts';
import { amongDegrees, amongYesAndNo } from './degrees.ts';
import { amongDistortions } from './distortions.ts';
import { amongNumbers } from './numbers.ts';
import { amongObjects, besideReference } from './comparison.ts';
import type { Judged } from '../../findings/ranking.ts';
import { findRemark, readOptions, type ReadOption } from './options.ts';
import type { SeverityRules } from '../../findings/severity-rules.ts';
import type { Understanding, Vocabulary } from '../../query/parse-query.ts';
import { UNDECIDED, type Verdict } from '../yes-no.ts';

export interface ChoiceEvidence {
  request: SummaryRequest;
  /** What was analysed of what the question asks about, worst first. */
  relevant: readonly Judged[];
  score: QualityScore | null;
  vocabulary: Vocabulary;
  rules: SeverityRules;
}

export interface Choice extends ChoiceEvidence {
  options: readonly ReadOption[];
  understood: Understanding;
  /** The question without its options. */
  stem: string;
}

export function chooseOption(understood: Understanding, evidence: ChoiceEvidence): Verdict {
  const { query } = evidence.request;
  const first = understood.options[0];
  const at = first ? query.indexOf(first.text) : -1;
  const options = readOptions(understood.options, evidence.vocabulary);
  const choice: Choice = { ...evidence, options, understood, stem: at < 0 ? query : query.slice(0, at) };
  const unsure = findRemark(options, 'unsure');
  return (
    amongNumbers(choice) ??
    amongYesAndNo(choice) ??
    amongObjects(choice) ??
    besideReference(choice) ??
    amongDistortions(choice) ??
    amongDegrees(choice) ?? {
      answer: unsure?.letter ?? UNDECIDED,
      because: 'None of the options can be compared with the evidence.',
    }
  );
}
