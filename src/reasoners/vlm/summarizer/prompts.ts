// The summarizer's prompts in three modes: scoring, explanation, multiple choice.
import type { AnswerOption } from '../../embedded/query/answer-options.ts';
import { formatDataBlock, DATA_RULE } from '../data-block.ts';

export const SUMMARIZER_PROMPT_VERSION = '2';

export type AnswerMode = 'scoring' | 'explanation' | 'multiple_choice';

const INTRODUCTION =
  'You are the summarizer of an image quality assessment (IQA) system. A planner and an executor have gathered evidence about an image: distortions with severities, scores of measuring tools on a common scale from 1 (bad) to 5 (excellent), and under "measured" what physical measurements alone say about the same distortions. Weigh it together with what you see yourself and answer the user\'s question. Tools can be wrong about distortions that they were not made for; say so where they contradict what is clearly visible.';

const ANSWER_FIELD: Record<AnswerMode, string> = {
  scoring:
    '- final_answer: the quality level of what was asked about, exactly one of Excellent, Good, Fair, Poor, Bad.',
  explanation:
    '- final_answer: a short, direct answer to the question, at most two sentences. The answer to a yes-or-no question begins with Yes or No.',
  multiple_choice: '- final_answer: the label of the one listed option that is right, the label alone.',
};

const COMMON_FIELDS = `- quality_reasoning: two to four sentences that explain the answer. Refer to the evidence: distortions with their severity, tools with their scores. Invent no numbers.
- need_replan: true only if the evidence lacks something that the answer needs, or contradicts itself. What "missing" lists may or may not matter for this question. Otherwise false.
- replan_reason: what is missing, such as "Missing tool scores for the vehicle region", if need_replan is true; else null.`;

const PROBABILITIES =
  '- probabilities: how probable each of the five levels is in your judgement, five numbers that add up to 1. Spread them honestly.';

export function summarizerSystem(mode: AnswerMode, declaresProbabilities: boolean): string {
  // The level comes first, so that its token probabilities do not depend on the wording of the reasoning.
  const fields = [ANSWER_FIELD[mode], ...(declaresProbabilities ? [PROBABILITIES] : []), COMMON_FIELDS].join('\n');
  return `${INTRODUCTION}\n\nFill these fields:\n\n${fields}\n\n${DATA_RULE}`;
}

interface SummarizerPromptInput {
  query: string;
  options: readonly AnswerOption[];
  evidence: Record<string, unknown>;
}

export function summarizerPrompt({ query, options, evidence }: SummarizerPromptInput): string {
  return `${formatDataBlock({
    question: query,
    ...(options.length > 0 ? { options: options.map(({ letter, text }) => ({ label: letter, text })) } : {}),
    evidence,
  })}\n\nAnswer the question.`;
}
