// What the executor asks its reasoner under a plan. Also foretold to the planner, so that a reasoner may begin before the plan is certain.
import type { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { IqaError } from '../../errors.ts';
import type { ExamineRequest } from '../../reasoners/reasoner.ts';
import { doubtedTools } from './gaps.ts';
import type { RunContext } from '../run-context.ts';
import { boxesOf, resolveScope } from './scope.ts';
import type { PipelineState } from '../state.ts';

export interface ExaminationOrder {
  request: ExamineRequest;
  /** Why there are no tools, when the reasoner can do without; else null. */
  toolless: unknown;
}

export async function orderExamination(
  state: PipelineState,
  plan: PlannerOutput,
  run: RunContext,
  signal: AbortSignal,
): Promise<ExaminationOrder> {
  const { regions, named, ungrounded } = resolveScope(plan, boxesOf(state, run));
  // A sidecar that is down has no tools; a reasoner with eyes of its own goes on without them.
  let toolless: unknown = null;
  const tools = await run.evidence.availableTools().catch((error: unknown) => {
    if (isFatal(error, run)) throw error;
    toolless = error;
    return [];
  });
  return {
    toolless,
    request: {
      query: state.query,
      plan,
      regions,
      named,
      ungrounded,
      tools,
      hasReference: plan.reference_mode === 'Full-Reference',
      measurements: () => run.evidence.measure(regions, signal),
      shorterSide: run.evidence.shorterSide,
      missing: state.summarizer_result?.need_replan ? (state.summarizer_result.replan_reason ?? null) : null,
      doubted: doubtedTools(
        state.executor_evidence,
        state.summarizer_result,
        run.registry.strengthOf,
        run.registry.isFusion,
      ),
    },
  };
}

/** Without tools the embedded reasoner has nothing to go by; what is wrong with the input is the caller's to mend. */
export function isFatal(error: unknown, run: RunContext): boolean {
  if (!(error instanceof IqaError)) return false;
  if (error.code.startsWith('IQA_INPUT_')) return true;
  return (error.code === 'IQA_TOOL_UNAVAILABLE' || error.code === 'IQA_BUSY') && !run.reasoner.seesPixels;
}
