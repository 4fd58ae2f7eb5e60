// Node 1: asks the reasoner for a plan, checks it and resolves its scope. A failure becomes state, so that a replan keeps the last good result.
import { PlannerInput, PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { buildPlannerError } from '../../../schemas/pipeline/planner-error.ts';
import { NO_REASON } from '../../../schemas/pipeline/summarizer.ts';
import { parse, ValidationError } from '../../../schemas/validation/model.ts';
import { ModelFailedError, publicMessage, getReasonerErrorCode, type ErrorCode } from '../../errors.ts';
import { raceAbort } from '../../lib/abort.ts';
import type { PlanRequest, Replan } from '../../reasoners/reasoner.ts';
import { buildExamineRequest } from '../rules/examine-request.ts';
import { resolveScope, type Scope } from '../rules/scope.ts';
import type { RunContext } from '../run-context.ts';
import type { PipelineState, PipelineUpdate } from '../state.ts';

export async function plan(state: PipelineState, run: RunContext, signal: AbortSignal): Promise<PipelineUpdate> {
  const isFirstRound = state.plan === undefined;
  try {
    const request = buildPlanRequest(state, run, isFirstRound);
    const proposal = await raceAbort(run.reasoner.plan(request, signal), signal);
    const output = parse(PlannerOutput, proposal.output, { knownTools: run.registry.names });
    const scope = resolveScope(output, listBoxes(state, run));
    if (output.query_type === 'Other' || !usesWholeImage(scope)) run.evidence.prefetch.drop();
    return { plan: output, plan_confidence: proposal.confidence, scope };
  } catch (error) {
    if (run.signal.aborted) throw error;
    return describeFailure(error, run);
  }
}

function buildPlanRequest(state: PipelineState, run: RunContext, isFirstRound: boolean): PlanRequest {
  const replan = describeReplan(state);
  if (replan) assertTimeForRound(run, state.iteration_count ?? 1);
  const input: PlannerInput = {
    query: state.query,
    image_path: state.image_path,
    reference_path: state.reference_path ?? null,
    prior_context: run.priorContext,
  };
  return {
    question: run.question,
    // Checked in the first round only: it does not change during a run.
    input: isFirstRound ? parse(PlannerInput, input, { checkImagePath: run.checkImagePath }) : input,
    tools: run.registry.rows,
    replan,
    previewExamineRequest: async (likely) => {
      const scope = resolveScope(likely, listBoxes(state, run));
      return (await buildExamineRequest(state, likely, scope, run, run.signal)).request;
    },
  };
}

/** The request's boxes, and those that a reasoner found in an earlier round. */
const listBoxes = ({ grounded_regions = [] }: PipelineState, { regions }: RunContext) => [
  ...regions,
  ...grounded_regions,
];

const usesWholeImage = ({ regions }: Scope): boolean => regions.some(({ box }) => box === null);

/** Null unless the summarizer asked for another round. */
function describeReplan(state: PipelineState): Replan | null {
  const { summarizer_result, plan: previousPlan, replan_history, replan_request } = state;
  if (!summarizer_result?.need_replan || !previousPlan) return null;
  return {
    gaps: replan_request?.gaps ?? [],
    modelReason: replan_request?.modelReason ?? null,
    reason: summarizer_result.replan_reason ?? NO_REASON,
    previousPlan,
    history: replan_history ?? [],
  };
}

/** A round starts only while as much time is left as a round took so far: an existing result is better than none. */
function assertTimeForRound({ deadline }: RunContext, roundsSoFar: number): void {
  const spentMs = deadline.limitMs - deadline.remaining();
  if (deadline.remaining() < spentMs / Math.max(1, roundsSoFar))
    throw new Error('There is no time left for another round');
}

function describeFailure(error: unknown, run: RunContext): PipelineUpdate {
  const record = buildPlannerError(error, {
    attempt: error instanceof ModelFailedError ? Math.max(1, error.attempts) : 1,
    backend: run.reasoner.identity.backend,
  });
  run.log.warn({ planner_error: record }, 'Planner attempt failed');
  const message = `The planner failed: ${publicMessage(record.message)}`;
  return { error: message, failure: { code: failureCode(error), message } };
}

function failureCode(error: unknown): ErrorCode {
  // The upload was checked: a spooled file that is gone by now is an internal error.
  if (error instanceof ValidationError && error.model === 'PlannerInput') return 'IQA_INTERNAL';
  return getReasonerErrorCode(error);
}
