// Builds the context that the pipeline nodes of one assessment share.
import { dirname } from 'node:path';
import { DEFAULT_QUERY } from '../../schemas/requests/assess.ts';
import type { PipelineConfig } from '../config/config.ts';
import { createImagePathCheck } from '../images/path-check.ts';
import type { RunContext } from '../pipeline/run-context.ts';
import { withPriorStatistics, withPriorUsage } from '../pipeline/rules/usage-totals.ts';
import type { ResultCache } from '../tools/evidence/cache.ts';
import { createEvidenceSource, type ToolOutcome } from '../tools/evidence/source.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { SidecarClient } from '../tools/sidecar/client.ts';
import type { AssessmentContext, AssessmentInput } from './context.ts';

export interface RunDependencies {
  config: PipelineConfig;
  registry: ToolRegistry;
  sidecar: SidecarClient;
  cache: ResultCache;
}

/** Share of the remaining time that one tool may use, so that a fallback tool still fits in. */
const TOOL_TIME_SHARE = 1 / 3;
const MIN_TOOL_TIMEOUT_MS = 100;

export function createRunContext(
  { query = DEFAULT_QUERY, choices = [], image, reference, regions, prior_context }: AssessmentInput,
  { requestId, log, deadline, signal, report, reasoner: source, resumeFrom }: AssessmentContext,
  { config, registry, sidecar, cache }: RunDependencies,
): RunContext {
  const toolTimeoutMs = () =>
    Math.max(
      MIN_TOOL_TIMEOUT_MS,
      Math.min(config.timeouts_ms.tool, Math.floor(deadline.remaining() * TOOL_TIME_SHARE)),
    );
  const onTool = (outcome: ToolOutcome) => {
    report({ event: 'tool', data: describeOutcome(outcome) });
  };
  const evidence = createEvidenceSource({
    client: sidecar,
    registry,
    cache,
    toolTimeoutMs,
    requestId,
    image,
    reference,
    onTool,
  });
  const context = { question: { query, choices }, image, reference, log, deadline, signal };
  const reasoner = source.create(context);
  const prior = resumeFrom?.usage;
  return {
    ...context,
    reasoner: prior ? withPriorUsage(reasoner, prior) : reasoner,
    evidence: prior ? withPriorStatistics(evidence, prior) : evidence,
    registry,
    regions,
    priorContext: prior_context ?? null,
    checkImagePath: createImagePathCheck(dirname(image.path)),
    timings: { ...prior?.timings_ms },
    report,
  };
}

function describeOutcome({ tool, region, value, score, cached, error }: ToolOutcome) {
  return { tool_name: tool.name, object_name: region, raw_score: value, normalized_score: score, cached, error };
}
