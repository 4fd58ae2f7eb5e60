// Builds the summary without a model: decides the answer from the evidence and writes the text that supports it.
import type { Summary, SummaryRequest } from '../../reasoner.ts';
import { rankEvidence } from '../findings/ranking.ts';
import type { SeverityRules } from '../findings/severity-rules.ts';
import type { ParsedQuery, QueryParser } from '../query/parse-query.ts';
import { answerUnclearQuery, decideAnswer, type AnswerEvidence } from './decide.ts';
import { isLowConfidence, needsLocalization } from './question-form.ts';
import {
  doubtSentence,
  findingsText,
  gapsSentence,
  missingReferenceSentence,
  OFF_TOPIC_TEXT,
  scopeSentence,
  scoreSentence,
  toolFailureSentence,
} from './text/sentences.ts';
import { listUsedEvidence } from './used-evidence.ts';
import { UNDECIDED, type Verdict } from './verdict.ts';

export function buildSummary(request: SummaryRequest, parser: QueryParser, rules: SeverityRules): Summary {
  if (request.plan.query_type === 'Other')
    return {
      score: null,
      output: { final_answer: UNDECIDED, quality_reasoning: OFF_TOPIC_TEXT, used_evidence: null },
      replan: null,
    };
  const parsed = parser.parseQuestion(request.question);
  const score = request.fuse(null);
  const findings = rankEvidence(request);
  const evidence = { request, findings, score, parser, rules };
  // A yes or no to a misread question would answer a different one.
  const isUnclear = isLowConfidence(parsed) && parsed.form !== 'multiple_choice';
  const verdict = isUnclear ? answerUnclearQuery(evidence) : decideAnswer(parsed, evidence);
  return {
    score,
    output: {
      final_answer: verdict.answer,
      quality_reasoning: writeReasoning(parsed, verdict, evidence),
      used_evidence: listUsedEvidence(request, findings, score),
    },
    replan: request.gaps.length > 0 ? { gaps: request.gaps, modelReason: null } : null,
  };
}

function writeReasoning(
  parsed: ParsedQuery,
  { reason }: Verdict,
  { request, findings, score, rules }: AnswerEvidence,
): string {
  const onlyNamed = request.evidence.distortion_set === null;
  const withAdvice = needsLocalization(parsed, request.question.query);
  const scoreText = [scoreSentence(score, request.evidence), toolFailureSentence(request.evidence)];
  const findingText = findingsText(findings, rules, { onlyNamed, withAdvice });
  // A rating starts with the score; every other answer starts with the findings.
  const startsWithFindings = withAdvice || parsed.form === 'multiple_choice';
  const sentences = [
    reason,
    ...(startsWithFindings ? [findingText, ...scoreText] : [...scoreText, findingText]),
    doubtSentence(score, findings, rules, onlyNamed),
    scopeSentence(request.ungrounded),
    missingReferenceSentence(parsed, request.question.query, request.plan),
    gapsSentence(request.gaps),
  ];
  return sentences.filter((sentence) => sentence !== null).join(' ') || 'Nothing could be measured.';
}
