// Time, calls and cost of a run so far, kept in its state so that a resumed run continues the count.
import type { ModelUsage } from '../../../schemas/responses/assessment.ts';
import type { Reasoner } from '../../reasoners/reasoner.ts';
import type { EvidenceSource } from '../../tools/evidence/source.ts';
import type { RunContext } from '../run-context.ts';

export interface UsageTotals {
  timings_ms: Record<string, number>;
  cache_hits: number;
  cache_misses: number;
  sidecar_ms: number;
  sidecar_version: string | null;
  usage: ModelUsage;
  degraded: string | null;
}

export function collectUsageTotals({ timings, evidence, reasoner }: RunContext): UsageTotals {
  const { hits, misses, sidecarMs, sidecarVersion } = evidence.statistics();
  return {
    timings_ms: { ...timings },
    cache_hits: hits,
    cache_misses: misses,
    sidecar_ms: sidecarMs,
    sidecar_version: sidecarVersion,
    ...reasoner.report(),
  };
}

export function withPriorStatistics(source: EvidenceSource, prior: UsageTotals): EvidenceSource {
  return {
    ...source,
    statistics() {
      const current = source.statistics();
      return {
        hits: prior.cache_hits + current.hits,
        misses: prior.cache_misses + current.misses,
        sidecarMs: prior.sidecar_ms + current.sidecarMs,
        sidecarVersion: current.sidecarVersion ?? prior.sidecar_version,
      };
    },
  };
}

/** Inherits instead of copying: `identity` may change during the run. */
export function withPriorUsage(reasoner: Reasoner, prior: UsageTotals): Reasoner {
  const report = (): ReturnType<Reasoner['report']> => {
    const current = reasoner.report();
    return { usage: addUsage(prior.usage, current.usage), degraded: current.degraded ?? prior.degraded };
  };
  return Object.create(reasoner, { report: { value: report } }) as Reasoner;
}

type CallTotals = Pick<ModelUsage, 'calls' | 'input_tokens' | 'output_tokens' | 'cost_usd'>;

export function addUsage(prior: ModelUsage, current: ModelUsage): ModelUsage {
  const add = (a: CallTotals, b: CallTotals): CallTotals => ({
    calls: a.calls + b.calls,
    cost_usd: a.cost_usd + b.cost_usd,
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
  });
  return {
    ...add(prior, current),
    cache_hits: prior.cache_hits + current.cache_hits,
    roles: {
      planner: add(prior.roles.planner, current.roles.planner),
      executor: add(prior.roles.executor, current.roles.executor),
      summarizer: add(prior.roles.summarizer, current.roles.summarizer),
    },
    failed_attempts: [...prior.failed_attempts, ...current.failed_attempts],
  };
}
