// Writes the notes on what limits a comparison.
import type { Assessment } from '../../schemas/responses/assessment.ts';

export function writeNotes(assessments: readonly Assessment[]): string[] {
  const methods = new Set(assessments.flatMap(({ quality_score: score }) => score?.method ?? []));
  const isIntervalMissing = assessments.some(({ quality_score: score }) => score && !score.interval);
  const sizes = new Set(assessments.map(({ image: { width, height } }) => `${width} × ${height}`));
  const named = new Set(
    assessments.flatMap(({ plan }) =>
      plan?.distortion_source === 'Explicit' ? Object.values(plan.distortions ?? {}).flat() : [],
    ),
  );
  const notes: [boolean, string][] = [
    [
      named.size > 0,
      `The question names ${[...named].join(', ')}: only that was examined, and the ranking uses the quality scores based on it.`,
    ],
    [
      methods.size > 1,
      `The scores come from different methods (${[...methods].join(', ')}), so that they are less comparable.`,
    ],
    [
      isIntervalMissing,
      'For scores without an interval, a typical spread of such scores is assumed (rule.spread_without_interval).',
    ],
    [sizes.size > 1, `The images differ in size (${[...sizes].join(', ')}); each was assessed at its own size.`],
  ];
  return notes.flatMap(([applies, text]) => (applies ? [text] : []));
}
