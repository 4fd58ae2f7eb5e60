// What a run has cost so far, as part of its state: a process that resumes it goes on counting where the last one stopped.
import Type, { type Static } from 'typebox';
import { ModelUsage } from '../../../schemas/responses/assessment.ts';
import type { Reasoner } from '../../reasoners/reasoner.ts';
import type { EvidenceSource } from '../../tools/evidence/source.ts';
import type { RunContext } from '../run-context.ts';

export const Carried = Type.Object({
  timings_ms: Type.Record(Type.String(), Type.Number()),
  cache_hits: Type.Integer(),
  cache_misses: Type.Integer(),
  sidecar_ms: Type.Number(),
  sidecar_version: Type.Union([Type.String(), Type.Null()]),
  usage: ModelUsage,
  degraded: Type.Union([Type.String(), Type.Null()]),
});
export type Carried = Static<typeof Carried>;

export function carriedOf({ timings, evidence, reasoner }: RunContext): Carried {
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

export function continueEvidence(source: EvidenceSource, before: Carried): EvidenceSource {
  return {
    ...source,
    statistics() {
      const now = source.statistics();
      return {
        hits: before.cache_hits + now.hits,
        misses: before.cache_misses + now.misses,
        sidecarMs: before.sidecar_ms + now.sidecarMs,
        sidecarVersion: now.sidecarVersion ?? before.sidecar_version,
      };
    },
  };
}

/** Inherits rather than copies: who speaks may change while the run goes on. */
export function continueReasoner(reasoner: Reasoner, before: Carried): Reasoner {
  const report = (): ReturnType<Reasoner['report']> => {
    const now = reasoner.report();
    return { usage: addUsage(before.usage, now.usage), degraded: now.degraded ?? before.degraded };
  };
  return Object.create(reasoner, { report: { value: report } }) as Reasoner;
}

type Costs = Pick<ModelUsage, 'calls' | 'input_tokens' | 'output_tokens' | 'cost_usd'>;

function addUsage(before: ModelUsage, now: ModelUsage): ModelUsage {
  const add = (a: Costs, b: Costs): Costs => ({
    calls: a.calls + b.calls,
    cost_usd: a.cost_usd + b.cost_usd,
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
  });
  return {
    ...add(before, now),
    cache_hits: before.cache_hits + now.cache_hits,
    roles: {
      planner: add(before.roles.planner, now.roles.planner),
      executor: add(before.roles.executor, now.roles.executor),
      summarizer: add(before.roles.summarizer, now.roles.summarizer),
    },
    failed_attempts: [...before.failed_attempts, ...now.failed_attempts],
  };
}
