// One assessment: prepares its images, runs the pipeline graph and builds the response.
import { basename } from 'node:path';
import { DEFAULT_QUERY } from '../../schemas/requests/assess.ts';
import { DEFAULT_MAX_REPLAN_ITERATIONS } from '../../schemas/pipeline/state.ts';
import type { Assessment } from '../../schemas/responses/assessment.ts';
import { IqaError } from '../errors.ts';
import type { DecodingLimits } from '../images/prepare-image.ts';
import { preparePair } from '../images/prepare-pair.ts';
import { checkRegions } from '../images/regions.ts';
import type { PipelineGraph } from '../pipeline/graph.ts';
import type { RunContext } from '../pipeline/run-context.ts';
import type { PipelineState } from '../pipeline/state.ts';
import type { AssessUpload } from '../uploads/assess-form.ts';
import type { AssessmentContext, AssessmentInput } from './context.ts';
import { collectMaps, findMapSources } from './maps.ts';
import { createResponse } from './response.ts';
import { createRunContext, type RunDependencies } from './create-run-context.ts';

export type RunAssessment = (input: AssessmentInput, context: AssessmentContext) => Promise<Assessment>;

interface RunOptions extends RunDependencies {
  graph: PipelineGraph;
  /** Of the service. */
  version: string;
}

export async function prepareInput(
  { files, body, session }: AssessUpload,
  limits: DecodingLimits,
): Promise<AssessmentInput> {
  const pair = await preparePair(files, body.align, session, limits);
  return { ...body, ...pair, regions: checkRegions(body.regions ?? [], pair.image.info) };
}

export function createRunAssessment({ graph, version, ...dependencies }: RunOptions): RunAssessment {
  const { config, registry } = dependencies;
  return async (input, context) => {
    const started = performance.now();
    const { id, requestId, deadline, resumeFrom } = context;
    const ended = new AbortController();
    const signal = AbortSignal.any([context.signal, deadline.signal, ended.signal]);
    const run = createRunContext(input, { ...context, signal }, dependencies);
    const mapSources = findMapSources(input.maps ?? [], registry);
    context.report({ event: 'accepted', data: { id, request_id: requestId } });
    try {
      if (!resumeFrom) await startPrefetch(run);
      const invocation = graph.invoke(resumeFrom ? null : createInitialState(input), {
        recursionLimit: config.replanning.recursion_limit,
        signal,
        // With checkpoints, a stage is stored before the next one starts.
        durability: 'sync',
        configurable: { run, thread_id: id },
      }) as Promise<PipelineState>;
      const [state, maps] = await Promise.all([invocation, collectMaps(mapSources, run)]);
      if (!state.summarizer_result)
        throw new IqaError(
          state.failure?.code ?? 'IQA_INTERNAL',
          state.failure?.message ?? 'The run ended without a result',
        );
      run.timings['total'] = performance.now() - started;
      return createResponse({ input, context, run, state, maps, version });
    } catch (error) {
      if (deadline.signal.aborted)
        throw new IqaError('IQA_DEADLINE', `The assessment took longer than ${deadline.limitMs} ms`, { cause: error });
      throw error;
    } finally {
      // Stops what the run has left in the sidecar, such as unused prefetched tools.
      ended.abort(new DOMException('The run has ended', 'AbortError'));
    }
  };
}

/** Before the graph starts, which takes milliseconds. A failure is ignored: the executor repeats the call and handles the error. */
async function startPrefetch({ reasoner, evidence, signal }: RunContext): Promise<void> {
  if (reasoner.allowsPrefetch) await evidence.prefetch.start(signal, reasoner.minLatencyMs).catch(() => undefined);
}

function createInitialState(input: AssessmentInput) {
  return {
    query: input.query ?? DEFAULT_QUERY,
    // Relative to the folder of `checkImagePath`: a process that resumes the run may use another folder.
    image_path: basename(input.image.path),
    ...(input.reference ? { reference_path: basename(input.reference.path) } : {}),
    iteration_count: 0,
    max_replan_iterations: input.max_replan_iterations ?? DEFAULT_MAX_REPLAN_ITERATIONS,
  };
}
