// The replanning loop's rules: the node after the summarizer, and the count and history of replan requests.
import type { FastifyBaseLogger } from 'fastify';
import { DEFAULT_MAX_REPLAN_ITERATIONS, MAX_HISTORY, type AgenticIQAState } from '../../../schemas/pipeline/state.ts';
import { NO_REASON } from '../../../schemas/pipeline/summarizer.ts';

export type NextNode = 'planner' | '__end__';
type ReplanState = Pick<
  AgenticIQAState,
  'summarizer_result' | 'iteration_count' | 'max_replan_iterations' | 'replan_history' | 'error'
>;

/** Labels of the summarizer's two outgoing edges in the diagram. */
export const EDGE_LABELS: Record<NextNode, string> = {
  planner: 'need_replan=true & iter<max',
  __end__: 'need_replan=false or iter>=max',
};

/** The conditional edge after the summarizer: back to the planner while the limit allows it. */
export function decideNextNode(state: ReplanState, log: FastifyBaseLogger): NextNode {
  const result = state.summarizer_result;
  const iteration = state.iteration_count ?? 0;
  const limit = state.max_replan_iterations ?? DEFAULT_MAX_REPLAN_ITERATIONS;
  // A planner that failed on a replan leaves its error and the last good result: the run ends.
  const isRequested = result !== undefined && result.need_replan && state.error === undefined;
  const decision: NextNode = isRequested && iteration < limit ? 'planner' : '__end__';
  log.info(
    { need_replan: result?.need_replan ?? false, iteration_count: iteration, max_replan_iterations: limit, decision },
    'Replanning decision',
  );
  if (decision === 'planner') {
    log.info(`Replanning triggered: ${result?.replan_reason ?? NO_REASON}`);
    log.info(`Iteration ${iteration}/${limit}`);
  } else if (isRequested) {
    warnAboutLimit(state, iteration, limit, log);
  }
  return decision;
}

function warnAboutLimit(state: ReplanState, iteration: number, limit: number, log: FastifyBaseLogger): void {
  log.warn(`Max replanning iterations (${limit}) reached`);
  log.warn('Continuing with current evidence despite need_replan=true');
  if (iteration > 1 && (state.replan_history?.length ?? 0) >= Math.min(iteration, MAX_HISTORY)) {
    log.warn(
      { replan_history: state.replan_history },
      'The summarizer asked for a replan on every iteration: possible logic issue in the summarizer',
    );
  }
}

/** Counts a replan request, including the one refused at the limit, and formats its history entry. */
export function recordReplanRequest(
  state: ReplanState,
  reason: string,
): { iteration_count: number; replan_history: string[] } {
  const iteration = (state.iteration_count ?? 0) + 1;
  return { iteration_count: iteration, replan_history: [`[Iteration ${iteration}] ${reason}`] };
}

/** The reducer of `replan_history`: appends entries and drops the oldest beyond the limit. */
export function createHistoryReducer(
  log: Pick<FastifyBaseLogger, 'warn'>,
): (current: string[], added: string[]) => string[] {
  return (current, added) => {
    const all = [...current, ...added];
    if (all.length <= MAX_HISTORY) return all;
    log.warn(
      { dropped: all.length - MAX_HISTORY },
      'Excessive replanning: the oldest entries of replan_history were removed',
    );
    return all.slice(-MAX_HISTORY);
  };
}
