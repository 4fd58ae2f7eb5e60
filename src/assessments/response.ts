// Builds the public response from the final state: every key present, no server path, degradation reported.
import type { Assessment } from '../../schemas/responses/assessment.ts';
import { CONTRACT_VERSION } from '../../schemas/sidecar.ts';
import type { AssessmentContext, AssessmentInput } from './context.ts';
import type { CollectedMaps } from './maps.ts';
import type { RunContext } from '../pipeline/run-context.ts';
import type { PipelineState } from '../pipeline/state.ts';
import { findToolFailure } from '../pipeline/rules/tool-failure.ts';

/** Version of the rules of planning, fusion and replanning; raised when they change an answer. */
export const PIPELINE_VERSION = '1.2.0';

interface ResponseParts {
  input: AssessmentInput;
  context: Pick<AssessmentContext, 'id' | 'requestId'>;
  run: RunContext;
  state: PipelineState;
  maps: CollectedMaps;
  version: string;
}

export function createResponse({ input, context, run, state, maps, version }: ResponseParts): Assessment {
  const { hits, misses, sidecarMs, sidecarVersion } = run.evidence.statistics();
  const { usage, degraded } = run.reasoner.report();
  const degradedReason = [degraded, findDegradation(state)].filter((reason) => reason !== null).join('; ') || null;
  return {
    id: context.id,
    query: state.query,
    image: input.image.info,
    reference: input.reference?.info ?? null,
    plan: state.plan ?? null,
    executor_evidence: state.executor_evidence ?? null,
    summarizer_result: state.summarizer_result ?? null,
    iteration_count: state.iteration_count ?? 0,
    max_replan_iterations: state.max_replan_iterations ?? 0,
    replan_history: state.replan_history ?? [],
    error: state.error ?? null,
    quality_score: state.quality_score ?? null,
    diagnostics: {
      plan_confidence: state.plan_confidence ?? null,
      findings: state.findings ?? [],
      tools: state.tool_diagnostics ?? [],
      maps: maps.maps,
      notes: [
        ...(state.notes ?? []),
        ...maps.notes,
        ...(state.quality_score ? [] : ['No score: neither a tool nor the reasoner gave one for this question.']),
      ],
    },
    metadata: {
      request_id: context.requestId,
      reasoner: run.reasoner.identity,
      degraded: degradedReason !== null,
      degraded_reason: degradedReason,
      timings_ms: { ...roundAll(run.timings), sidecar: round(sidecarMs) },
      vlm: usage,
      cache: { hits, misses },
      versions: {
        service: version,
        pipeline: PIPELINE_VERSION,
        reasoner: run.reasoner.version,
        sidecar: sidecarVersion,
        contract: CONTRACT_VERSION,
      },
    },
  };
}

function findDegradation({ error, executor_evidence }: PipelineState): string | null {
  if (error !== undefined) return error;
  const failure = findToolFailure(executor_evidence?.tool_logs ?? []);
  if (!failure) return null;
  const { failed, replacement } = failure;
  return replacement
    ? `${replacement.tool_name} answered in place of ${failed.tool_name}: ${failed.error ?? ''}`
    : failed.error;
}

const round = (milliseconds: number): number => Math.round(milliseconds * 100) / 100;
const roundAll = (timings: Record<string, number>) =>
  Object.fromEntries(Object.entries(timings).map(([stage, time]) => [stage, round(time)]));
