// The final state as the public answer: every key present, no server path, what was degraded said so.
import type { Assessment } from '../../schemas/responses/assessment.ts';
import { CONTRACT_VERSION } from '../../schemas/sidecar.ts';
import type { AssessmentInput, Call } from './run.ts';
import type { CollectedMaps } from './maps.ts';
import type { RunContext } from '../pipeline/run-context.ts';
import type { PipelineState } from '../pipeline/state.ts';
import { findFailure } from '../pipeline/nodes/tool-execution.ts';

/** Rules of planning, fusion and replanning; raised when they change what an answer says. */
export const PIPELINE_VERSION = '1.1.0';

export interface ResponseParts {
  input: AssessmentInput;
  call: Call;
  run: RunContext;
  state: PipelineState;
  maps: CollectedMaps;
  version: string;
}

export function createResponse({ input, call, run, state, maps, version }: ResponseParts): Assessment {
  const { hits, misses, sidecarMs, sidecarVersion } = run.evidence.statistics();
  const { usage, degraded } = run.reasoner.report();
  const degradedReason = [degraded, findDegradation(state)].filter((reason) => reason !== null).join('; ') || null;
  return {
    id: call.id,
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
      request_id: call.requestId,
      reasoner: run.reasoner.identity,
      degraded: degradedReason !== null,
      degraded_reason: degradedReason,
      timings_ms: { ...rounded(run.timings), sidecar: round(sidecarMs) },
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
  const failure = findFailure(executor_evidence?.tool_logs ?? []);
  if (!failure) return null;
  const { failed, instead } = failure;
  return instead
    ? `${instead.tool_name} answered in place of ${failed.tool_name}: ${failed.error ?? ''}`
    : failed.error;
}

const round = (milliseconds: number): number => Math.round(milliseconds * 100) / 100;
const rounded = (timings: Record<string, number>) =>
  Object.fromEntries(Object.entries(timings).map(([stage, time]) => [stage, round(time)]));
