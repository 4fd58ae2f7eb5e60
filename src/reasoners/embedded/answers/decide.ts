// Decides the short answer to a question, by the form of answer that it asks for.
import type { QualityScore } from '../../../../schemas/responses/assessment.ts';
import type { DistortionCategory } from '../../../../schemas/vocabulary.ts';
import type { SummaryRequest } from '../../reasoner.ts';
import { restrictToVariants, type RankedFinding } from '../findings/ranking.ts';
import type { SeverityRules } from '../findings/severity-rules.ts';
import type { ParsedQuery, QueryParser } from '../query/parse-query.ts';
import { chooseOption } from './choice/choose.ts';
import { readClaims } from './choice/options.ts';
import { ASKS_FOR_HELP, ASKS_WHERE, resolveForm } from './question-form.ts';
import { describeRemedy } from './text/advice.ts';
import {
  joinWords,
  lowerFirst,
  nameDistortion,
  nameFinding,
  nameWithPlace,
  upperFirst,
  withArticle,
} from './text/names.ts';
import { UNDECIDED, type Verdict } from './verdict.ts';
import { answerYesNo } from './yes-no.ts';

export interface AnswerEvidence {
  request: SummaryRequest;
  findings: readonly RankedFinding[];
  score: QualityScore | null;
  parser: QueryParser;
  rules: SeverityRules;
}

export function answerUnclearQuery(evidence: AnswerEvidence): Verdict {
  return {
    answer: evidence.score?.level ?? summarizeFindings(evidence.findings, evidence, false).answer,
    reason: 'The question was not understood; this is the overall quality.',
  };
}

const GENERAL_FLAW_WORD =
  /\b(distortion|art[ei]fact|degradation|flaw|defect|problem|issue|damage|impairment|fault|error)s?\b/i;

export function decideAnswer(parsed: ParsedQuery, evidence: AnswerEvidence): Verdict {
  const { request, findings, score, parser, rules } = evidence;
  const { query } = request.question;
  const named = listNamedCategories(parsed);
  const relevant = restrictToVariants(
    named.length > 0 ? findings.filter((item) => named.includes(item.type)) : findings,
    parsed.variants,
  );
  const short = summarizeFindings(relevant, evidence, named.length > 0);
  switch (resolveForm(parsed, query)) {
    case 'multiple_choice':
      return chooseOption(parsed, { request, relevant, score, parser, rules });
    case 'yes_no': {
      const hasReference = request.plan.reference_mode === 'Full-Reference';
      const claims = readClaims(query, parser);
      return answerYesNo(parsed, relevant, { score, rules, query, hasReference, claims }) ?? short;
    }
    case 'scoring':
      return score ? { answer: score.level, reason: null } : short;
    case 'how_much': {
      // "How severe is the worst distortion?" asks for the distortion, not for a rating.
      if (GENERAL_FLAW_WORD.test(query) || named.length > 0 || !score) return short;
      const isFlawed = relevant.some(({ rank }) => rank > 0);
      return { answer: isFlawed ? `${score.level}: ${lowerFirst(short.answer)}` : score.level, reason: null };
    }
    case 'which':
      return refuseComparison(parsed, request) ?? answerOpenQuestion(relevant, evidence, short);
    default:
      return answerOpenQuestion(relevant, evidence, short);
  }
}

/** "Which is blurrier, the dog or the fence?" cannot be answered by measurements of the whole image. */
function refuseComparison({ objects }: ParsedQuery, { ungrounded }: SummaryRequest): Verdict | null {
  const boxless = objects.filter((object) => ungrounded.includes(object));
  return objects.length < 2 || boxless.length === 0
    ? null
    : {
        answer: UNDECIDED,
        reason: `${upperFirst(joinWords(boxless.map(withArticle)))} cannot be compared without a box.`,
      };
}

/** The findings in short; a place or a remedy where the question asks for one. */
function answerOpenQuestion(
  relevant: readonly RankedFinding[],
  { request, rules }: AnswerEvidence,
  short: Verdict,
): Verdict {
  const { query } = request.question;
  const worst = relevant.find(({ rank }) => rank > 0);
  if (worst && ASKS_WHERE.test(query)) {
    const located = relevant.find(({ place, rank }) => place !== null && rank > 0);
    const unknown = `No local map shows where the ${nameDistortion(worst, rules)} is.`;
    return { answer: upperFirst(nameWithPlace(located ?? worst, rules)), reason: located ? null : unknown };
  }
  const remedy = worst ? describeRemedy(worst) : null;
  return remedy !== null && ASKS_FOR_HELP.test(query) ? { answer: remedy, reason: null } : short;
}

/** `onlyNamed`: the question names distortions, so the answer is about those alone. */
function summarizeFindings(
  relevant: readonly RankedFinding[],
  { score, rules }: Pick<AnswerEvidence, 'score' | 'rules'>,
  onlyNamed: boolean,
): Verdict {
  if (relevant.length === 0) return { answer: UNDECIDED, reason: null };
  const visible = relevant.filter((item) => item.rank > 0).slice(0, 3);
  if (visible.length > 0)
    return { answer: upperFirst(joinWords(visible.map((item) => nameFinding(item, rules)))), reason: null };
  if (onlyNamed) {
    const nouns = new Set(relevant.slice(0, 3).map((item) => nameDistortion(item, rules)));
    return { answer: `No visible ${joinWords([...nouns], 'or')}`, reason: null };
  }
  const overall = score
    ? `${score.value < 2.5 ? ', but' : ':'} the overall quality is ${score.level.toLowerCase()}`
    : '';
  return { answer: `No flaw stands out${overall}`, reason: null };
}

function listNamedCategories({ distortions }: ParsedQuery): DistortionCategory[] {
  return [...new Set(Object.values(distortions ?? {}).flat())];
}
