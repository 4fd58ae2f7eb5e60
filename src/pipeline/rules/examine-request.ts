// Builds the executor's request to its reasoner. The planner previews it, so that a reasoner may start before the plan is certain.
import type { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { IqaError, isInputError } from '../../errors.ts';
import type { ExamineRequest } from '../../reasoners/reasoner.ts';
import type { RunContext } from '../run-context.ts';
import type { PipelineState } from '../state.ts';
import type { Scope } from './scope.ts';

interface BuiltExamineRequest {
  request: ExamineRequest;
  /** Why no tools are available, for a reasoner that can do without them; else null. */
  toolsError: unknown;
}

export async function buildExamineRequest(
  state: PipelineState,
  plan: PlannerOutput,
  { regions, named, ungrounded }: Scope,
  run: RunContext,
  signal: AbortSignal,
): Promise<BuiltExamineRequest> {
  let toolsError: unknown = null;
  const tools = await run.evidence.availableTools().catch((error: unknown) => {
    if (isFatal(error, run)) throw error;
    toolsError = error;
    return [];
  });
  const replan = state.summarizer_result?.need_replan ? state.replan_request : null;
  return {
    toolsError,
    request: {
      question: run.question,
      plan,
      regions,
      named,
      ungrounded,
      tools,
      hasReference: plan.reference_mode === 'Full-Reference',
      measurements: () => run.evidence.measure(regions, signal),
      shorterSide: run.evidence.shorterSide,
      replanReason: state.summarizer_result?.need_replan ? (state.summarizer_result.replan_reason ?? null) : null,
      contradictedTools: new Set(
        (replan?.gaps ?? []).flatMap((gap) => (gap.kind === 'contradicted_tool' ? [gap.tool] : [])),
      ),
    },
  };
}

/** An unusable input always ends the run; missing tools end it unless the reasoner looks at the image itself. */
export function isFatal(error: unknown, { reasoner }: RunContext): boolean {
  if (isInputError(error)) return true;
  return (
    error instanceof IqaError &&
    (error.code === 'IQA_TOOL_UNAVAILABLE' || error.code === 'IQA_BUSY') &&
    !reasoner.hasVision
  );
}
