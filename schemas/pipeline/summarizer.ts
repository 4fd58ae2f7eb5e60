// Stage 3 of the flow: the verdict, or the request for another round.
import Type, { type Static } from 'typebox';
import { defineModel, type RuleContext } from '../validation/model.ts';
import { NonBlank, Nullable } from '../vocabulary.ts';

export const NO_REASON = 'No reason provided';

export const SummarizerOutput = defineModel(
  'SummarizerOutput',
  Type.Object(
    {
      final_answer: NonBlank('The level word ("Good"), the letter of an answer option ("B"), or a short answer.'),
      quality_reasoning: NonBlank('The explanation, resting on the evidence.'),
      need_replan: Type.Boolean({
        default: false,
        description: 'Whether the evidence does not suffice and another round is asked for.',
      }),
      replan_reason: Nullable(
        Type.String(),
        `What is missing when need_replan is true ("${NO_REASON}" if nobody said), else null.`,
      ),
      used_evidence: Nullable(
        Type.Record(Type.String(), Type.Unknown()),
        'The pieces of evidence that the answer rests on, or null.',
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

export function normalise(draft: Record<string, unknown>, { warn }: RuleContext): void {
  for (const field of ['final_answer', 'quality_reasoning', 'replan_reason']) {
    const text = draft[field];
    if (typeof text === 'string') draft[field] = text.trim();
  }
  if (draft['need_replan'] === true && (draft['replan_reason'] === null || draft['replan_reason'] === '')) {
    draft['replan_reason'] = NO_REASON;
    warn?.('need_replan is true without a replan_reason');
  }
}
