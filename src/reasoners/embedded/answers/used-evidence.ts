// Lists the findings, measurements, places and tool scores that an answer is based on.
import type { QualityScore } from '../../../../schemas/responses/assessment.ts';
import { listScores } from '../../../pipeline/rules/fusion.ts';
import type { SummaryRequest } from '../../reasoner.ts';
import type { RankedFinding } from '../findings/ranking.ts';

export function listUsedEvidence(
  { evidence }: SummaryRequest,
  findings: readonly RankedFinding[],
  score: QualityScore | null,
): Record<string, unknown> {
  const measurements = findings.flatMap(({ object, type, measurements: values }) =>
    Object.entries(values).flatMap(([name, value]) =>
      value === null ? [] : [{ object, distortion: type, name, value }],
    ),
  );
  return {
    distortion_analysis: findings.map(({ object, type, severity }) => ({ object, type, severity })),
    measurements,
    places: findings.flatMap(({ object, type, place }) =>
      place ? [{ object, distortion: type, where: place.where, map: place.map }] : [],
    ),
    quality_scores: listScores(evidence),
    quality_score: score?.value ?? null,
    interval: score?.interval ?? null,
  };
}
