// The executor role with a model: detection, analysis and selection in one call or, as in the paper, one by one.
import { mergeDistortions } from '../../../pipeline/rules/scope.ts';
import type { TimeLimit } from '../../../vlm/session.ts';
import type { Examination, ExamineRequest } from '../../reasoner.ts';
import { assembleExamination, type DistortionSet } from './assemble.ts';
import { examinationSchema, readExamination, type ExaminationReply } from './reply.ts';
import {
  EXECUTOR_PROMPT_VERSION,
  executorPrompt,
  executorSystem,
  type ExecutorPromptInput,
  type ReplyParts,
} from './prompts.ts';
import type { OnAnswered, VlmContext } from '../context.ts';
import { selectImages } from '../select-images.ts';
import { chooseParts, groupByImageLimit, listAskedObjects, listNamed, listSelectableTools } from './targets.ts';

interface ExaminationTask {
  request: ExamineRequest;
  context: VlmContext;
  time: TimeLimit;
  onAnswered: OnAnswered;
  /** Sent before the plan is certain. */
  speculative: boolean;
}

export async function examineWithModel(task: ExaminationTask): Promise<Examination> {
  const { request, context } = task;
  const asked = listAskedObjects(request);
  const named = request.named === null ? null : listNamed(asked, request);
  const ask: Ask = (parts, objects, input) => askModel(task, parts, { objects, ...input });
  const wanted = chooseParts(request, context);
  const reply =
    context.models.reasoning === 'paper'
      ? await askStepByStep(wanted, named, asked, ask)
      : mergeReplies(
          await Promise.all(
            groupByImageLimit(asked, request, context).map((objects) => ask(wanted, objects, { distortions: named })),
          ),
        );
  const examination = assembleExamination({ reply, wanted, named, request, size: context.image.info });
  return addSecondOpinion(examination, task);
}

type Ask = (
  parts: ReplyParts,
  objects: readonly string[],
  input: Partial<ExecutorPromptInput>,
) => Promise<ExaminationReply>;
const NO_PARTS: ReplyParts = { detection: false, analysis: false, selection: false, boxes: false };

/** As in the paper: one call per step, which gets the result of the step before. */
async function askStepByStep(
  wanted: ReplyParts,
  named: DistortionSet | null,
  objects: readonly string[],
  ask: Ask,
): Promise<ExaminationReply> {
  const { detection, boxes } = wanted;
  const detected =
    detection || boxes ? await ask({ ...NO_PARTS, detection, boxes }, objects, { distortions: named }) : {};
  const distortions = detected.distortion_set
    ? mergeDistortions(detected.distortion_set.map(({ object, distortions: found }) => [object, found]))
    : named;
  const analysed = wanted.analysis ? await ask({ ...NO_PARTS, analysis: true }, objects, { distortions }) : {};
  const selected = wanted.selection
    ? await ask({ ...NO_PARTS, selection: true }, objects, { distortions, analysis: analysed.distortion_analysis })
    : {};
  return { ...detected, ...analysed, ...selected };
}

type AskInput = Partial<ExecutorPromptInput> & { objects: readonly string[] };

async function askModel(
  { request, context, time, onAnswered, speculative }: ExaminationTask,
  parts: ReplyParts,
  input: AskInput,
): Promise<ExaminationReply> {
  const tools = listSelectableTools(request);
  const lists = { objects: input.objects, tools: tools.map(({ name }) => name) };
  const answer = await context.session.ask(
    {
      role: 'executor',
      speculative,
      compose: async (capabilities) => {
        const supported = { ...parts, boxes: parts.boxes && capabilities.grounding };
        const schema = examinationSchema(supported, lists);
        return {
          task: nameTask(supported),
          promptVersion: EXECUTOR_PROMPT_VERSION,
          system: executorSystem(supported),
          prompt: executorPrompt(supported, {
            ...request,
            query: request.question.query,
            tools,
            distortions: null,
            ...input,
          }),
          images: await selectImages(input.objects, request.regions, capabilities, context),
          schema,
          logprobs: false,
          read: (value, _reply, onRepair) => readExamination(value, schema, lists, context.registry, onRepair),
        };
      },
    },
    time,
  );
  onAnswered(answer);
  return answer.value;
}

function nameTask({ detection, analysis, selection }: ReplyParts): string {
  const named = [detection ? 'detection' : null, analysis ? 'analysis' : null, selection ? 'selection' : null].filter(
    (part) => part !== null,
  );
  return `executor_${named.length > 1 ? 'merged' : (named[0] ?? 'grounding')}`;
}

function mergeReplies(replies: readonly ExaminationReply[]): ExaminationReply {
  return {
    distortion_set: replies.flatMap((reply) => reply.distortion_set ?? []),
    distortion_analysis: replies.flatMap((reply) => reply.distortion_analysis ?? []),
    selected_tools: replies.flatMap((reply) => reply.selected_tools ?? []),
    boxes: replies.flatMap((reply) => reply.boxes ?? []),
  };
}

/** Adds the measurements of the same distortions, for the findings and the summarizer. They were taken during the model's call. */
async function addSecondOpinion(
  examination: Examination,
  { request, context, time }: ExaminationTask,
): Promise<Examination> {
  const named = mergeDistortions(
    examination.findings.map(({ object_name, distortion }) => [object_name, [distortion]]),
  );
  const flags = {
    distortion_detection: false,
    distortion_analysis: true,
    tool_selection: false,
    tool_execution: false,
  };
  const opinion = await context.embedded
    .examine({ ...request, named, plan: { ...request.plan, plan: flags } }, time.signal)
    .catch(() => null);
  context.measured = opinion?.distortion_analysis ?? null;
  return {
    ...examination,
    findings: examination.findings.map((finding) => ({
      ...finding,
      measurements:
        opinion?.findings.find(
          (other) => other.object_name === finding.object_name && other.distortion === finding.distortion,
        )?.measurements ?? {},
    })),
  };
}
