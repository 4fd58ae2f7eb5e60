// The summarizer's output: the answer, or a request to replan.
import Type, { type Static } from 'typebox';
import { defineModel, type RuleContext } from '../validation/model.ts';
import { NonBlank, Nullable } from '../vocabulary.ts';

export const NO_REASON = 'No reason provided';

export const SummarizerOutput = defineModel(
  'SummarizerOutput',
  Type.Object(
    {
      final_answer: NonBlank('The level word ("Good"), the letter of an answer option ("B"), or a short answer.'),
      quality_reasoning: NonBlank('The explanation, based on the evidence.'),
      need_replan: Type.Boolean({
        default: false,
        description: 'Whether the evidence is insufficient and a replan is requested.',
      }),
      replan_reason: Nullable(
        Type.String(),
        `What is missing if need_replan is true ("${NO_REASON}" if not stated), else null.`,
      ),
      used_evidence: Nullable(
        Type.Record(Type.String(), Type.Unknown()),
        'The evidence that the answer is based on, or null.',
      ),
    },
    { additionalProperties: false, description: 'The answer and its reasons.' },
  ),
  {
    normalise,
    examples: [
      {
        final_answer: 'B',
        quality_reasoning: 'The image shows moderate blur affecting sharpness, consistent with tool score of 2.6.',
        need_replan: false,
      },
      {
        final_answer: 'Unable to determine',
        quality_reasoning: 'Insufficient evidence for vehicle region.',
        need_replan: true,
        replan_reason: 'Missing tool scores for vehicle region',
      },
    ],
  },
);
export type SummarizerOutput = Static<typeof SummarizerOutput>;

function normalise(draft: Record<string, unknown>, { warn }: RuleContext): void {
  for (const field of ['final_answer', 'quality_reasoning', 'replan_reason']) {
    const text = draft[field];
    if (typeof text === 'string') draft[field] = text.trim();
  }
  if (draft['need_replan'] === true && (draft['replan_reason'] === null || draft['replan_reason'] === '')) {
    draft['replan_reason'] = NO_REASON;
    warn?.('need_replan is true without a replan_reason');
  }
}
