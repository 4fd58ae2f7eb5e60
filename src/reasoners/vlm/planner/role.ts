// Role 1 with a model: what is asked. Where the embedded planner is certain, no model is asked at all.
import type { PlanProposal, PlanRequest } from '../../reasoner.ts';
import type { TimeLimit } from '../../../vlm/session.ts';
import { planSchema, readPlan } from './reply.ts';
import { PLANNER_PROMPT_VERSION, PLANNER_SYSTEM, plannerPrompt } from './prompt.ts';
import type { Spoke, Workplace } from '../reasoner.ts';

export async function planWithModel(
  request: PlanRequest,
  workplace: Workplace,
  time: TimeLimit,
  spoke: Spoke,
): Promise<PlanProposal> {
  const { models, registry, embedded, session, pictures } = workplace;
  const isPaper = models.reasoning === 'paper';
  const likely = isPaper ? null : await embedded.plan(request, time.signal);
  if (likely && (likely.confidence ?? 0) >= models.planner_certain_from) return likely;
  // The executor will want it: it is made while the planner thinks.
  pictures.whole().catch(() => undefined);
  const situation = { hasReference: request.input.reference_path !== null, replan: request.replan };
  const asked = session.ask(
    {
      role: 'planner',
      compose: async () => ({
        task: 'planner',
        promptVersion: PLANNER_PROMPT_VERSION,
        system: PLANNER_SYSTEM,
        prompt: plannerPrompt(request, request.tools),
        pictures: isPaper ? [await pictures.whole()] : [],
        schema: planSchema(request.tools.map(({ name }) => name)),
        logprobs: false,
        read: (value, _reply, repaired) => readPlan(value, registry, situation, repaired),
      }),
    },
    time,
  );
  // A turn later, so that the planner's call is the first to go out; and not at all when its answer was known already.
  const begun = setImmediate(() => {
    if (likely && isWorthBeginning(likely, request, workplace))
      workplace.ahead.begin(likely.output, () => request.foretell(likely.output));
  });
  try {
    const answered = await asked;
    spoke(answered);
    return { output: answered.value, confidence: null };
  } finally {
    clearImmediate(begun);
  }
}

/** A replan comes from a plan that fell short: what the embedded planner thinks of it is no longer likely. */
function isWorthBeginning(
  { output, confidence }: PlanProposal,
  { replan }: PlanRequest,
  { models }: Workplace,
): boolean {
  return (
    models.speculation &&
    replan === null &&
    output.query_type === 'IQA' &&
    (confidence ?? 0) >= models.executor_ahead_from
  );
}
