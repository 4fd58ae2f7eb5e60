// One assessment from prepared pictures to the response: builds the run, drives the graph, assembles the answer.
import { basename, dirname } from 'node:path';
import type { Logger } from 'pino';
import type { AssessRequest, Region } from '../../schemas/requests/assess.ts';
import { DEFAULT_QUERY } from '../../schemas/requests/assess.ts';
import type { Assessment } from '../../schemas/responses/assessment.ts';
import type { ProgressEvent } from '../../schemas/responses/progress.ts';
import { DEFAULT_MAX_REPLAN_ITERATIONS } from '../../schemas/pipeline/state.ts';
import type { PipelineConfig } from '../config/config.ts';
import type { Deadline } from './deadline.ts';
import { IqaError } from '../errors.ts';
import type { PreparedImage } from '../images/prepare-image.ts';
import { createImagePathCheck } from '../images/path-check.ts';
import { collectMaps, findMapSources } from './maps.ts';
import { continueEvidence, continueReasoner, type Carried } from '../pipeline/rules/usage-totals.ts';
import type { PipelineGraph } from '../pipeline/graph.ts';
import type { RunContext } from '../pipeline/run-context.ts';
import type { PipelineState } from '../pipeline/state.ts';
import type { ReasonerSource } from '../reasoners/reasoner.ts';
import { createResponse } from './response.ts';
import type { ResultCache } from '../tools/evidence/cache.ts';
import { createEvidenceSource, type ToolOutcome } from '../tools/evidence/source.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { SidecarClient } from '../tools/sidecar/client.ts';

export interface AssessorOptions {
  config: PipelineConfig;
  version: string;
  graph: PipelineGraph;
  registry: ToolRegistry;
  client: SidecarClient;
  cache: ResultCache;
  selectReasoner: (backend: string | undefined) => ReasonerSource;
}

export interface AssessmentInput extends Pick<
  AssessRequest,
  'query' | 'max_replan_iterations' | 'choices' | 'prior_context' | 'backend' | 'maps'
> {
  image: PreparedImage;
  reference: PreparedImage | null;
  regions: readonly Region[];
}

export interface Call {
  /** Of the assessment. */
  id: string;
  requestId: string;
  log: Logger;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
  deadline: Deadline;
  report: (event: ProgressEvent) => void;
}

/** A run whose stages are stored under its id. */
export interface Thread {
  /** What an earlier process has done of it; null when it begins here. */
  earlier: { carried: Carried | null; measured: boolean } | null;
}

export type Assessor = (input: AssessmentInput, call: Call, thread?: Thread) => Promise<Assessment>;

export function createAssessor(options: AssessorOptions): Assessor {
  const { config, graph } = options;
  return async (input, call, thread) => {
    const started = performance.now();
    const { deadline } = call;
    const run = createRun(options, input, call, thread?.earlier?.carried);
    const mapSources = findMapSources(input.maps ?? [], options.registry);
    call.report({ event: 'accepted', data: { id: call.id, request_id: call.requestId } });
    // A sidecar that is down is found again by the executor, which knows what it means.
    if (run.reasoner.speculates && !thread?.earlier?.measured)
      run.evidence.prefetch(run.signal, run.reasoner.thinkingMs).catch(() => undefined);
    try {
      // 'sync': where stages are stored, each is before the next one begins.
      const settings = {
        recursionLimit: config.replanning.recursion_limit,
        signal: run.signal,
        durability: 'sync' as const,
      };
      const configurable = { run, ...(thread ? { thread_id: call.id } : {}) };
      const [state, maps] = await Promise.all([
        graph.invoke(thread?.earlier ? null : initialState(input), {
          ...settings,
          configurable,
        }) as Promise<PipelineState>,
        collectMaps(mapSources, run),
      ]);
      if (!state.summarizer_result)
        throw new IqaError(
          state.failure?.code ?? 'IQA_INTERNAL',
          state.failure?.message ?? 'The run ended without a result',
        );
      run.timings['total'] = performance.now() - started;
      return createResponse({ input, call, run, state, maps, version: options.version });
    } catch (error) {
      if (deadline.signal.aborted)
        throw new IqaError('IQA_DEADLINE', `The assessment took longer than ${deadline.limitMs} ms`, { cause: error });
      throw error;
    } finally {
      run.evidence.dropPrefetch();
    }
  };
}

/** A tool may use up a third of the time that is left: then there is some for the one that takes its place. */
const TOOL_SHARE = 1 / 3;
const SHORTEST_TOOL_MS = 100;

function createRun(
  options: AssessorOptions,
  input: AssessmentInput,
  call: Call,
  carried: Carried | null = null,
): RunContext {
  const { config, registry, client, cache, selectReasoner } = options;
  const { deadline, report } = call;
  const signal = AbortSignal.any([call.signal, deadline.signal]);
  const toolTimeoutMs = () =>
    Math.max(SHORTEST_TOOL_MS, Math.min(config.timeouts_ms.tool, Math.floor(deadline.remaining() * TOOL_SHARE)));
  const evidence = createEvidenceSource({
    client,
    registry,
    cache,
    toolTimeoutMs,
    requestId: call.requestId,
    image: input.image,
    reference: input.reference,
    onTool: (outcome) => {
      report({ event: 'tool', data: describeOutcome(outcome) });
    },
  });
  const reasoner = selectReasoner(input.backend).create({
    image: input.image,
    reference: input.reference,
    log: call.log,
    deadline,
    signal,
  });
  return {
    reasoner: carried ? continueReasoner(reasoner, carried) : reasoner,
    evidence: carried ? continueEvidence(evidence, carried) : evidence,
    registry,
    log: call.log,
    choices: input.choices ?? [],
    regions: input.regions,
    priorContext: input.prior_context ?? null,
    verifyPictures: async () => {
      await Promise.all([input.image.verify(), input.reference?.verify()]);
    },
    checkImagePath: createImagePathCheck({ root: dirname(input.image.path), requireExtension: false }),
    timings: { ...carried?.timings_ms },
    signal,
    deadline,
    report,
  };
}

function describeOutcome({ tool, region, value, score, cached, error }: ToolOutcome) {
  return { tool_name: tool.name, object_name: region, raw_score: value, normalized_score: score, cached, error };
}

function initialState(input: AssessmentInput) {
  return {
    query: input.query ?? DEFAULT_QUERY,
    // Names below the folder that `checkImagePath` looks into: a process that resumes the run may have that folder elsewhere.
    image_path: basename(input.image.path),
    ...(input.reference ? { reference_path: basename(input.reference.path) } : {}),
    iteration_count: 0,
    max_replan_iterations: input.max_replan_iterations ?? DEFAULT_MAX_REPLAN_ITERATIONS,
  };
}
