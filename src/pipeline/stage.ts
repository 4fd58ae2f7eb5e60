// What all nodes have in common: the run's context, a time limit, timing, and a quick way out once the run has failed.
import type { RunnableConfig } from '@langchain/core/runnables';
import type { ProgressEvent, StageName } from '../../schemas/responses/progress.ts';
import { carriedOf } from './rules/usage-totals.ts';
import type { RunContext } from './run-context.ts';
import type { PipelineState, PipelineUpdate } from './state.ts';

export type StageWork = (state: PipelineState, run: RunContext, signal: AbortSignal) => Promise<PipelineUpdate>;
export type StageNode = (state: PipelineState, config: RunnableConfig) => Promise<PipelineUpdate>;

export interface StageOptions {
  name: StageName;
  timeoutMs: number;
  /** Left to the stages that follow, so that a slow one ends in an answer and not past the request's deadline. */
  reserveMs?: number;
  /** What of an update is the stage's output, for those who watch. */
  outputOf: (update: PipelineUpdate) => StageOutput | undefined;
}
type StageOutput = Extract<ProgressEvent, { event: 'stage' }>['data']['output'];

export function createStage({ name, timeoutMs, reserveMs = 0, outputOf }: StageOptions, work: StageWork): StageNode {
  return async (state, config) => {
    // After an error nothing may change the last good result; decideNextNode then ends the run.
    if (state.error !== undefined) return {};
    const run = runOf(config);
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
        data: { stage: name, status: 'finished', iteration, elapsed_ms: elapsedMs, output: outputOf(update) ?? null },
      });
    }
    return { ...update, carried: carriedOf(run) };
  };
}

/** How long a stage may take of the time that is left: for those inside it who plan ahead as well. */
export function stageLimitMs(timeoutMs: number, reserveMs: number, left: number): number {
  return Math.min(timeoutMs, Math.ceil(left - Math.min(reserveMs, left / 4)));
}

export function runOf(config: RunnableConfig): RunContext {
  const run = (config.configurable as { run?: RunContext } | undefined)?.run;
  if (!run) throw new TypeError('Expected the run context in the configuration of the graph');
  return run;
}

/** Rejects as soon as the signal fires, whatever the work is still doing. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let abort!: () => void;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
