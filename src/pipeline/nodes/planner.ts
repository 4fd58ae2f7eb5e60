// Node 1: asks the reasoner for a plan and checks it. A failure becomes state, so that a replan keeps the last good result.
import { parse, ValidationError } from '../../../schemas/validation/model.ts';
import { PlannerInput, PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { PlannerError } from '../../../schemas/pipeline/planner-error.ts';
import { NO_REASON } from '../../../schemas/pipeline/summarizer.ts';
import { publicMessage, reasonerFailureCode, type ErrorCode } from '../../errors.ts';
import type { Replan } from '../../reasoners/reasoner.ts';
import { ModelFailure } from '../../vlm/model-failure.ts';
import { orderExamination } from '../rules/examine-request.ts';
import type { RunContext } from '../run-context.ts';
import { orAborted } from '../stage.ts';
import type { PipelineState, PipelineUpdate } from '../state.ts';

export async function plan(state: PipelineState, run: RunContext, signal: AbortSignal): Promise<PipelineUpdate> {
  try {
    const replan = replanOf(state);
    if (replan) checkTimeLeft(run, state.iteration_count ?? 1);
    const input = parse(
      PlannerInput,
      {
        query: state.query,
        image_path: state.image_path,
        reference_path: state.reference_path,
        prior_context: run.priorContext,
      },
      { checkImagePath: run.checkImagePath },
    );
    const foretell = async (likely: PlannerOutput) => (await orderExamination(state, likely, run, run.signal)).request;
    const request = { input, choices: run.choices, tools: run.registry.rows, replan, foretell };
    const proposal = await orAborted(run.reasoner.plan(request, signal), signal);
    const output = parse(PlannerOutput, proposal.output, { knownTools: run.registry.names });
    return { plan: output, plan_confidence: proposal.confidence };
  } catch (error) {
    if (run.signal.aborted) throw error;
    const record = PlannerError.fromException(error, {
      attempt: attemptsOf(error),
      backend: run.reasoner.identity.backend,
      log: run.log,
    });
    const message = `The planner failed: ${publicMessage(record.message)}`;
    return { error: message, failure: { code: failureCode(error), message } };
  }
}

/** Set when the summarizer sent us back: its reason and the plan that fell short. */
function replanOf({ summarizer_result, plan: previousPlan, replan_history }: PipelineState): Replan | null {
  if (!summarizer_result?.need_replan || !previousPlan) return null;
  return { reason: summarizer_result.replan_reason ?? NO_REASON, previousPlan, history: replan_history ?? [] };
}

/** A reasoner that asked several times says how often. */
const attemptsOf = (error: unknown): number => (error instanceof ModelFailure ? Math.max(1, error.attempts.length) : 1);

/** Another round is begun only while as much time is left as a round took so far: better the result at hand than none. */
function checkTimeLeft({ deadline }: RunContext, roundsSoFar: number): void {
  const spent = deadline.limitMs - deadline.remaining();
  if (deadline.remaining() < spent / Math.max(1, roundsSoFar))
    throw new Error('There is no time left for another round');
}

function failureCode(error: unknown): ErrorCode {
  // The door has checked the input: a spooled file that is gone by now is our fault.
  if (error instanceof ValidationError && error.model === 'PlannerInput') return 'IQA_INTERNAL';
  return reasonerFailureCode(error);
}
