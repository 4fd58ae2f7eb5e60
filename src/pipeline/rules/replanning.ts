// The replanning loop's rules: where to go after the summarizer, how requests are counted and remembered.
import type { Logger } from 'pino';
import { DEFAULT_MAX_REPLAN_ITERATIONS, MAX_HISTORY, type AgenticIQAState } from '../../../schemas/pipeline/state.ts';
import { NO_REASON } from '../../../schemas/pipeline/summarizer.ts';

export type NextNode = 'planner' | '__end__';
type ReplanState = Pick<
  AgenticIQAState,
  'summarizer_result' | 'iteration_count' | 'max_replan_iterations' | 'replan_history' | 'error'
>;

/** The labels that the drawn graph gives the two ways out of the summarizer. */
export const EDGE_LABELS: Record<NextNode, string> = {
  planner: 'need_replan=true & iter<max',
  __end__: 'need_replan=false or iter>=max',
};

/** The conditional edge after the summarizer: back to the planner only while the limit allows it. */
export function decideNextNode(state: ReplanState, log: Logger): NextNode {
  const result = state.summarizer_result;
  const iteration = state.iteration_count ?? 0;
  const limit = state.max_replan_iterations ?? DEFAULT_MAX_REPLAN_ITERATIONS;
  // A planner that failed on a replan leaves its error and the last good result: that is the end.
  const asked = result !== undefined && result.need_replan && state.error === undefined;
  const decision: NextNode = asked && iteration < limit ? 'planner' : '__end__';
  log.info(
    { need_replan: result?.need_replan ?? false, iteration_count: iteration, max_replan_iterations: limit, decision },
    'Replanning decision',
  );
  if (decision === 'planner') {
    log.info(`Replanning triggered: ${result?.replan_reason ?? NO_REASON}`);
    log.info(`Iteration ${iteration}/${limit}`);
  } else if (asked) {
    warnAboutLimit(state, iteration, limit, log);
  }
  return decision;
}

function warnAboutLimit(state: ReplanState, iteration: number, limit: number, log: Logger): void {
  log.warn(`Max replanning iterations (${limit}) reached`);
  log.warn('Continuing with current evidence despite need_replan=true');
  if (iteration > 1 && (state.replan_history?.length ?? 0) >= Math.min(iteration, MAX_HISTORY)) {
    log.warn(
      { replan_history: state.replan_history },
      'The summarizer asked for a replan on every iteration: possible logic issue in the summarizer',
    );
  }
}

/** Counts a request for a replan, the refused one at the limit included, and words the entry for its history. */
export function recordReplanRequest(
  state: ReplanState,
  reason: string,
): { iteration_count: number; replan_history: string[] } {
  const iteration = (state.iteration_count ?? 0) + 1;
  return { iteration_count: iteration, replan_history: [`[Iteration ${iteration}] ${reason}`] };
}

/** The reducer of `replan_history`: new entries are appended; first in, first out beyond the limit. */
export function createHistoryReducer(log: Pick<Logger, 'warn'>): (current: string[], added: string[]) => string[] {
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
