// Answers a multiple choice: the letter of the option that agrees best with the evidence.
import type { ParsedQuery } from '../../query/parse-query.ts';
import { UNDECIDED, type Verdict } from '../verdict.ts';
import { chooseObject, chooseReferenceComparison } from './comparison.ts';
import { chooseDegree, chooseYesNo } from './degrees.ts';
import { chooseAmongDistortions } from './distortions.ts';
import { chooseNumber } from './numbers.ts';
import { findRemark, readOptions, type Choice, type ChoiceEvidence } from './options.ts';

export function chooseOption(parsed: ParsedQuery, evidence: ChoiceEvidence): Verdict {
  const { query } = evidence.request.question;
  const first = parsed.options[0];
  const at = first ? query.indexOf(first.text) : -1;
  const options = readOptions(parsed.options, evidence.parser);
  const choice: Choice = { ...evidence, options, parsed, stem: at < 0 ? query : query.slice(0, at) };
  const unsure = findRemark(options, 'unsure');
  return (
    chooseNumber(choice) ??
    chooseYesNo(choice) ??
    chooseObject(choice) ??
    chooseReferenceComparison(choice) ??
    chooseAmongDistortions(choice) ??
    chooseDegree(choice) ?? {
      answer: unsure?.letter ?? UNDECIDED,
      reason: 'None of the options can be compared with the measurements.',
    }
  );
}
