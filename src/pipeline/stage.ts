// What all nodes share: the run's context, a time limit, timing, progress events, and no work once the run has failed.
import type { RunnableConfig } from '@langchain/core/runnables';
import type { ProgressEvent, StageName } from '../../schemas/responses/progress.ts';
import { stageLimitMs } from './rules/stage-limit.ts';
import { collectUsageTotals } from './rules/usage-totals.ts';
import type { RunContext } from './run-context.ts';
import type { PipelineState, PipelineUpdate } from './state.ts';

export type StageWork = (state: PipelineState, run: RunContext, signal: AbortSignal) => Promise<PipelineUpdate>;
type StageNode = (state: PipelineState, config: RunnableConfig) => Promise<PipelineUpdate>;

interface StageOptions {
  name: StageName;
  timeoutMs: number;
  /** Reserved for the stages that follow, so that a slow stage still leaves time for an answer. */
  reserveMs?: number;
  /** The part of an update that progress events show. */
  getOutput: (update: PipelineUpdate) => StageOutput | undefined;
}
type StageOutput = Extract<ProgressEvent, { event: 'stage' }>['data']['output'];

export function createStage({ name, timeoutMs, reserveMs = 0, getOutput }: StageOptions, work: StageWork): StageNode {
  return async (state, config) => {
    // After an error nothing may change the last good result; decideNextNode then ends the run.
    if (state.error !== undefined) return {};
    const run = getRunContext(config);
    const iteration = state.iteration_count ?? 0;
    const started = performance.now();
    run.report({ event: 'stage', data: { stage: name, status: 'started', iteration, elapsed_ms: null, output: null } });
    const limit = AbortSignal.timeout(stageLimitMs(timeoutMs, reserveMs, run.deadline.remaining()));
    let update: PipelineUpdate = {};
    try {
      update = await work(state, run, AbortSignal.any([run.signal, limit]));
    } finally {
      const elapsed = performance.now() - started;
      const elapsedMs = Math.round(elapsed * 10) / 10;
      run.timings[name] = (run.timings[name] ?? 0) + elapsed;
      run.log.info({ stage: name, iteration, stage_ms: elapsedMs }, 'Stage finished');
      run.report({
        event: 'stage',
        data: { stage: name, status: 'finished', iteration, elapsed_ms: elapsedMs, output: getOutput(update) ?? null },
      });
    }
    return { ...update, usage_totals: collectUsageTotals(run) };
  };
}

export function getRunContext(config: RunnableConfig): RunContext {
  const run = (config.configurable as { run?: RunContext } | undefined)?.run;
  if (!run) throw new TypeError('Expected the run context in the configuration of the graph');
  return run;
}
