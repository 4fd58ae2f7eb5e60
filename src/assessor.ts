// One assessment from prepared pictures to the response: builds the run, drives the graph, assembles the answer.
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import type { AssessRequest, Region } from '../schemas/assess-request.ts';
import { DEFAULT_QUERY } from '../schemas/assess-request.ts';
import type { Assessment } from '../schemas/assessment.ts';
import { DEFAULT_MAX_REPLAN_ITERATIONS } from '../schemas/state.ts';
import type { PipelineConfig } from './config.ts';
import { IqaError } from './errors.ts';
import type { PreparedImage } from './images/decoding.ts';
import { createImagePathCheck } from './images/path-check.ts';
import type { PipelineGraph } from './pipeline/graph.ts';
import type { RunContext } from './pipeline/run-context.ts';
import type { PipelineState } from './pipeline/state.ts';
import type { ReasonerSource } from './reasoners/reasoner.ts';
import { createResponse } from './response.ts';
import type { ResultCache } from './tools/cache.ts';
import { createEvidenceSource } from './tools/evidence-source.ts';
import type { ToolRegistry } from './tools/registry.ts';
import type { SidecarClient } from './tools/sidecar-client.ts';

export interface AssessorOptions {
  config: PipelineConfig;
  version: string;
  graph: PipelineGraph;
  registry: ToolRegistry;
  client: SidecarClient;
  cache: ResultCache;
  selectReasoner: (backend: string | undefined) => ReasonerSource;
}

export interface AssessmentInput extends Pick<AssessRequest, 'query' | 'max_replan_iterations' | 'choices' | 'prior_context' | 'backend'> {
  image: PreparedImage;
  reference: PreparedImage | null;
  regions: readonly Region[];
}

export interface Call {
  requestId: string;
  log: Logger;
  /** Aborted when the client hangs up. */
  signal: AbortSignal;
}

export type Assessor = (input: AssessmentInput, call: Call) => Promise<Assessment>;

export function createAssessor(options: AssessorOptions): Assessor {
  const { config, graph } = options;
  return async (input, call) => {
    const started = performance.now();
    const deadline = AbortSignal.timeout(config.timeouts_ms.request);
    const run = createRun(options, input, call, AbortSignal.any([call.signal, deadline]));
    // A sidecar that is down is found again by the executor, which knows what it means.
    if (run.reasoner.speculates) run.evidence.prefetch(run.signal).catch(() => undefined);
    try {
      const settings = { configurable: { run }, recursionLimit: config.replanning.recursion_limit, signal: run.signal };
      const state = await graph.invoke(initialState(input), settings) as PipelineState;
      if (!state.summarizer_result) throw new IqaError(state.failure?.code ?? 'IQA_INTERNAL', state.failure?.message ?? 'The run ended without a result');
      run.timings['total'] = performance.now() - started;
      return createResponse({ id: randomUUID(), input, call, run, state, version: options.version });
    } catch (error) {
      if (deadline.aborted) throw new IqaError('IQA_DEADLINE', `The assessment took longer than ${config.timeouts_ms.request} ms`, { cause: error });
      throw error;
    } finally {
      run.evidence.dropPrefetch();
    }
  };
}

function createRun({ config, registry, client, cache, selectReasoner }: AssessorOptions, input: AssessmentInput, call: Call, signal: AbortSignal): RunContext {
  return {
    reasoner: selectReasoner(input.backend)({
      image: input.image, reference: input.reference, log: call.log, deadline: performance.now() + config.timeouts_ms.request,
    }),
    evidence: createEvidenceSource({
      client, registry, cache, toolTimeoutMs: config.timeouts_ms.tool, requestId: call.requestId, image: input.image, reference: input.reference,
    }),
    registry,
    log: call.log,
    choices: input.choices ?? [],
    regions: input.regions,
    priorContext: input.prior_context ?? null,
    verifyPictures: async () => { await Promise.all([input.image.verify(), input.reference?.verify()]); },
    checkImagePath: createImagePathCheck({ root: dirname(input.image.path), requireExtension: false }),
    timings: {},
    signal,
  };
}

function initialState(input: AssessmentInput) {
  return {
    query: input.query ?? DEFAULT_QUERY,
    image_path: input.image.path,
    ...(input.reference ? { reference_path: input.reference.path } : {}),
    iteration_count: 0,
    max_replan_iterations: input.max_replan_iterations ?? DEFAULT_MAX_REPLAN_ITERATIONS,
  };
}
