// What a run has cost so far, as part of its state: a process that resumes it goes on counting where the last one stopped.
import Type, { type Static } from 'typebox';
import type { RunContext } from './run-context.ts';
import type { EvidenceSource } from '../tools/evidence-source.ts';

export const Carried = Type.Object({
  timings_ms: Type.Record(Type.String(), Type.Number()),
  cache_hits: Type.Integer(),
  cache_misses: Type.Integer(),
  sidecar_ms: Type.Number(),
  sidecar_version: Type.Union([Type.String(), Type.Null()]),
});
export type Carried = Static<typeof Carried>;

export function carriedOf({ timings, evidence }: RunContext): Carried {
  const { hits, misses, sidecarMs, sidecarVersion } = evidence.statistics();
  return { timings_ms: { ...timings }, cache_hits: hits, cache_misses: misses, sidecar_ms: sidecarMs, sidecar_version: sidecarVersion };
}

export function continueEvidence(source: EvidenceSource, before: Carried): EvidenceSource {
  return {
    ...source,
    statistics() {
      const now = source.statistics();
      return {
        hits: before.cache_hits + now.hits, misses: before.cache_misses + now.misses, sidecarMs: before.sidecar_ms + now.sidecarMs,
        sidecarVersion: now.sidecarVersion ?? before.sidecar_version,
      };
    },
  };
}
