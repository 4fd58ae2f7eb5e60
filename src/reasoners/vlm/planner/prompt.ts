// The planner's prompt: the paper's fields and rules, reworded. A change of wording needs a new version.
import type { ToolRow } from '../../../../schemas/tool.ts';
import { DISTORTION_CATEGORIES } from '../../../../schemas/vocabulary.ts';
import type { PlanRequest } from '../../reasoner.ts';
import { formatDataBlock, DATA_RULE } from '../data-block.ts';

export const PLANNER_PROMPT_VERSION = '2';

export const PLANNER_SYSTEM = `You are the planner of an image quality assessment (IQA) system. A user asks a question about an image. You state what is asked; an executor then inspects and measures the image, and a summarizer answers. You do not answer the question yourself.

Fill these fields:
- query_type: "IQA" if the question is about technical quality (blur, noise, compression, colour, exposure, contrast, sharpness, overall quality, fidelity to a reference). "Other" if it is about content, emotion, style, beauty or anything else.
- query_scope: the objects or regions that the question is about, each in the question's own words. ["Global"] if it is about the image as a whole.
- distortion_source: "Explicit" if the question names distortions, "Inferred" if they have to be found.
- distortions: for each object of the scope (or "Global") the distortion categories that the question names; null if it names none. Categories are only: ${DISTORTION_CATEGORIES.join(', ')}.
- reference_mode: "Full-Reference" if a pristine reference was given, else "No-Reference".
- required_tool: the name of a listed tool if the question names it, else null. Never choose one yourself.
- plan: which steps are needed.
  - distortion_detection: false if the question names the distortions, else true.
  - distortion_analysis: true.
  - tool_selection and tool_execution: a tool is named: false and true. No tool but an object is named: false and false. Neither: true and true.
  - For query_type "Other" all four are false.
If an earlier round was insufficient, a reason is given: turn on the steps that provide what is missing.

${DATA_RULE}`;

export function plannerPrompt(
  { question: { query, choices }, input, replan }: Pick<PlanRequest, 'question' | 'input' | 'replan'>,
  tools: readonly ToolRow[],
): string {
  return `${formatDataBlock({
    question: query,
    ...(choices.length > 0 ? { answer_options: choices } : {}),
    reference_given: input.reference_path !== null,
    ...(input.prior_context ? { earlier_conversation: input.prior_context } : {}),
    tools: tools.map(({ name, aliases }) => ({ name, also_called: aliases })),
    ...(replan
      ? { replan: { reason: replan.reason, previous_plan: replan.previousPlan, history: replan.history } }
      : {}),
  })}\n\nPlan for this question.`;
}
