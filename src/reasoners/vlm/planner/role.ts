// The planner role with a model. Where the embedded planner is certain, no model is called.
import type { TimeLimit } from '../../../vlm/session.ts';
import type { PlanProposal, PlanRequest } from '../../reasoner.ts';
import type { OnAnswered, VlmContext } from '../context.ts';
import type { Speculation } from '../speculation.ts';
import { PLANNER_PROMPT_VERSION, PLANNER_SYSTEM, plannerPrompt } from './prompt.ts';
import { planSchema, readPlan } from './reply.ts';

export async function planWithModel(
  request: PlanRequest,
  context: VlmContext,
  speculation: Speculation,
  time: TimeLimit,
  onAnswered: OnAnswered,
): Promise<PlanProposal> {
  const { models, registry, embedded, session, images } = context;
  const isPaper = models.reasoning === 'paper';
  const likely = isPaper ? null : await embedded.plan(request, time.signal);
  if (likely && (likely.confidence ?? 0) >= models.planner_certain_from) return likely;
  // Encoded while the planner's call runs: the executor needs it next.
  images.whole().catch(() => undefined);
  const situation = { hasReference: request.input.reference_path !== null, replan: request.replan };
  const answering = session.ask(
    {
      role: 'planner',
      compose: async () => ({
        task: 'planner',
        promptVersion: PLANNER_PROMPT_VERSION,
        system: PLANNER_SYSTEM,
        prompt: plannerPrompt(request, request.tools),
        images: isPaper ? [await images.whole()] : [],
        schema: planSchema(request.tools.map(({ name }) => name)),
        logprobs: false,
        read: (value, _reply, onRepair) => readPlan(value, registry, situation, onRepair),
      }),
    },
    time,
  );
  // Deferred, so that the planner's call goes out first; cancelled when its answer was cached.
  const starting = setImmediate(() => {
    if (likely && isWorthStarting(likely, request, context))
      speculation.start(likely.output, () => request.previewExamineRequest(likely.output));
  });
  try {
    const answer = await answering;
    onAnswered(answer);
    return { output: answer.value, confidence: null };
  } finally {
    clearImmediate(starting);
  }
}

/** On a replan the embedded planner's plan is no longer likely: a plan fell short. */
function isWorthStarting(
  { output, confidence }: PlanProposal,
  { replan }: PlanRequest,
  { models }: VlmContext,
): boolean {
  return (
    models.speculation &&
    replan === null &&
    output.query_type === 'IQA' &&
    (confidence ?? 0) >= models.executor_ahead_from
  );
}
