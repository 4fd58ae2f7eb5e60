// What the runs of a comparison took together: calls, tokens, cost, cache and time are sums, everything degraded is named with its picture.
import type { Assessment, Metadata, ModelUsage } from '../../schemas/responses/assessment.ts';
import { NO_USAGE } from '../reasoners/reasoner.ts';

export function mergeMetadata(assessments: readonly Assessment[], requestId: string, totalMs: number): Metadata {
  const all = assessments.map(({ metadata }) => metadata);
  const [first] = all;
  if (!first) throw new TypeError('Expected at least one assessment');
  const reasons = all.flatMap(({ degraded_reason: reason }, index) =>
    reason === null ? [] : [`picture ${index + 1}: ${reason}`],
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

type Used = ModelUsage['roles']['planner'];

function addUsage(left: ModelUsage, right: ModelUsage): ModelUsage {
  const role = (name: keyof ModelUsage['roles']): Used => add(left.roles[name], right.roles[name]);
  const roles = { planner: role('planner'), executor: role('executor'), summarizer: role('summarizer') };
  return {
    ...add(left, right),
    cache_hits: left.cache_hits + right.cache_hits,
    roles,
    failed_attempts: [...left.failed_attempts, ...right.failed_attempts],
  };
}

function add(left: Used, right: Used): Used {
  return {
    calls: left.calls + right.calls,
    input_tokens: left.input_tokens + right.input_tokens,
    output_tokens: left.output_tokens + right.output_tokens,
    cost_usd: left.cost_usd + right.cost_usd,
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const round = (milliseconds: number): number => Math.round(milliseconds * 100) / 100;
