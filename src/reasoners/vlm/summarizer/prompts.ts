// What the summarizer's model is told, in three modes: scoring, explanation, multiple choice.
import type { AnswerOption } from '../../embedded/query/answer-options.ts';
import { dataBlock, DATA_RULE } from '../data-block.ts';

export const SUMMARIZER_PROMPT_VERSION = '1';

export type AnswerMode = 'scoring' | 'explanation' | 'multiple_choice';

const OPENING =
  'You are the summarizer of an image quality assessment (IQA) system. A planner and an executor have gathered evidence about a picture: distortions with severities, scores of measuring tools on a common scale from 1 (bad) to 5 (excellent), and under "measured" what physical measurements alone say of the same distortions. Weigh it together with what you see yourself and answer the user\'s question. Tools can be wrong about what they were not made for; say so where they contradict what is plainly visible.';

const ANSWERS: Record<AnswerMode, string> = {
  scoring:
    '- final_answer: the quality level of what was asked about, exactly one of Excellent, Good, Fair, Poor, Bad.',
  explanation:
    '- final_answer: a short, direct answer to the question, at most two sentences. A question for yes or no begins with Yes or No.',
  multiple_choice: '- final_answer: the label of the one listed option that is right, the label alone.',
};

const REST = `- quality_reasoning: two to four sentences that explain the answer. Refer to the evidence: distortions with their severity, tools with their scores. Invent no numbers.
- need_replan: true only if the evidence lacks something without which the question cannot be answered, or contradicts itself. What "missing" lists may or may not matter for this question. Otherwise false.
- replan_reason: what is missing, such as "Missing tool scores for the vehicle region", if need_replan is true; else null.`;

const PROBABILITIES =
  '- probabilities: how probable you hold each of the five levels, five numbers that add up to 1. Spread them honestly.';

export function summarizerSystem(mode: AnswerMode, declaresProbabilities: boolean): string {
  // The level comes first: its probabilities must not depend on how the reasoning was worded.
  const fields = [ANSWERS[mode], ...(declaresProbabilities ? [PROBABILITIES] : []), REST].join('\n');
  return `${OPENING}\n\nFill these fields:\n\n${fields}\n\n${DATA_RULE}`;
}

export interface SummarizerMaterial {
  query: string;
  options: readonly AnswerOption[];
  evidence: Record<string, unknown>;
}

export function summarizerPrompt({ query, options, evidence }: SummarizerMaterial): string {
  return `${dataBlock({
    question: query,
    ...(options.length > 0 ? { options: options.map(({ letter, text }) => ({ label: letter, text })) } : {}),
    evidence,
  })}\n\nAnswer the question.`;
}
