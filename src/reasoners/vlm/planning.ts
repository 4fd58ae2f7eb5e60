// Role 1 with a model: what is asked. Where the embedded planner is certain, no model is asked at all.
import type { PlanProposal, PlanRequest } from '../reasoner.ts';
import type { TimeLimit } from '../../vlm/session.ts';
import { PlanReply, readPlan } from './plan-reply.ts';
import { PLANNER_PROMPT_VERSION, PLANNER_SYSTEM, plannerPrompt } from './planner-prompt.ts';
import type { Spoke, Workplace } from './reasoner.ts';

export async function planWithModel(request: PlanRequest, workplace: Workplace, time: TimeLimit, spoke: Spoke): Promise<PlanProposal> {
  const { models, registry, embedded, session, pictures } = workplace;
  const isPaper = models.reasoning === 'paper';
  if (!isPaper) {
    const proposal = await embedded.plan(request, time.signal);
    if ((proposal.confidence ?? 0) >= models.planner_certain_from) return proposal;
    // The executor will want it: it is made while the planner thinks.
    pictures.whole().catch(() => undefined);
  }
  const situation = { hasReference: request.input.reference_path !== null, replan: request.replan };
  const answered = await session.ask({
    role: 'planner',
    compose: async () => ({
      task: 'planner', promptVersion: PLANNER_PROMPT_VERSION, system: PLANNER_SYSTEM, prompt: plannerPrompt(request, request.tools),
      pictures: isPaper ? [await pictures.whole()] : [],
      schema: PlanReply, logprobs: false,
      read: (value, _reply, repaired) => readPlan(value, registry, situation, repaired),
    }),
  }, time);
  spoke(answered);
  return { output: answered.value, confidence: null };
}
