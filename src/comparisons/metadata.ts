// Merges the metadata of the assessments of a comparison: sums calls, tokens, cost, cache and time, lists degradations by image.
import type { Assessment, Metadata } from '../../schemas/responses/assessment.ts';
import { addUsage } from '../pipeline/rules/usage-totals.ts';
import { NO_USAGE } from '../reasoners/reasoner.ts';

export function mergeMetadata(assessments: readonly Assessment[], requestId: string, totalMs: number): Metadata {
  const all = assessments.map(({ metadata }) => metadata);
  const [first] = all;
  if (!first) throw new TypeError('Expected at least one assessment');
  const reasons = all.flatMap(({ degraded_reason: reason }, index) =>
    reason === null ? [] : [`image ${index + 1}: ${reason}`],
  );
  return {
    request_id: requestId,
    reasoner: first.reasoner,
    degraded: all.some(({ degraded }) => degraded),
    degraded_reason: reasons.join('; ') || null,
    timings_ms: {
      sidecar: round(sum(all.map(({ timings_ms: timings }) => timings['sidecar'] ?? 0))),
      total: round(totalMs),
    },
    vlm: all.map(({ vlm }) => vlm).reduce(addUsage, NO_USAGE),
    cache: { hits: sum(all.map(({ cache }) => cache.hits)), misses: sum(all.map(({ cache }) => cache.misses)) },
    versions: first.versions,
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const round = (milliseconds: number): number => Math.round(milliseconds * 100) / 100;
