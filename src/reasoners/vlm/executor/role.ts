// Role 2 with a model: detection, analysis and selection, in one call or, as in the paper, one by one.
import { GLOBAL } from '../../../../schemas/vocabulary.ts';
import { getOwn } from '../../../lib/get-own.ts';
import type { ScopedRegion } from '../../../tools/evidence/source.ts';
import type { Capabilities, Picture } from '../../../vlm/client.ts';
import type { TimeLimit } from '../../../vlm/session.ts';
import type { Examination, ExamineRequest } from '../../reasoner.ts';
import { assemble, setOf, type DistortionSet } from './assemble.ts';
import { examinationSchema, readExamination, type ExaminationReply } from './reply.ts';
import {
  EXECUTOR_PROMPT_VERSION,
  executorPrompt,
  executorSystem,
  type ExecutorMaterial,
  type Parts,
} from './prompts.ts';
import type { Spoke, Workplace } from '../reasoner.ts';

export interface ExaminationTask {
  request: ExamineRequest;
  workplace: Workplace;
  time: TimeLimit;
  spoke: Spoke;
  /** Made before the plan is certain. */
  isAhead: boolean;
}

export async function examineWithModel(task: ExaminationTask): Promise<Examination> {
  const { request, workplace } = task;
  const asked = askedObjects(request);
  const named = request.named === null ? null : namedFor(asked, request);
  const ask: Ask = (parts, objects, material) => askModel(task, parts, { objects, ...material });
  const wanted = partsOf(request, workplace);
  const reply =
    workplace.models.reasoning === 'paper'
      ? await oneByOne(wanted, named, asked, ask)
      : merge(
          await Promise.all(
            groupsOf(asked, request, workplace).map((objects) => ask(wanted, objects, { distortions: named })),
          ),
        );
  const examination = assemble({ reply, wanted, named, request, size: workplace.size });
  return addSecondOpinion(examination, task);
}

type Ask = (parts: Parts, objects: readonly string[], material: Partial<ExecutorMaterial>) => Promise<ExaminationReply>;
const NOTHING: Parts = { detection: false, analysis: false, selection: false, boxes: false };

/** As in the paper: each step is a call of its own and is told what the one before found. */
async function oneByOne(
  wanted: Parts,
  named: DistortionSet | null,
  objects: readonly string[],
  ask: Ask,
): Promise<ExaminationReply> {
  const { detection, boxes } = wanted;
  const detected =
    detection || boxes ? await ask({ ...NOTHING, detection, boxes }, objects, { distortions: named }) : {};
  const distortions = detected.distortion_set ? setOf(detected.distortion_set, (object) => object) : named;
  const analysed = wanted.analysis ? await ask({ ...NOTHING, analysis: true }, objects, { distortions }) : {};
  const selected = wanted.selection
    ? await ask({ ...NOTHING, selection: true }, objects, { distortions, analysis: analysed.distortion_analysis })
    : {};
  return { ...detected, ...analysed, ...selected };
}

function partsOf(request: ExamineRequest, { chain }: Workplace): Parts {
  const {
    plan: { plan: flags },
    ungrounded,
  } = request;
  return {
    detection: flags.distortion_detection,
    analysis: flags.distortion_analysis,
    // Without tools there is nothing to choose from.
    selection: flags.tool_selection && choosableTools(request).length > 0,
    // A call for boxes alone would be in vain where no back end finds any.
    boxes: ungrounded.length > 0 && chain.executor.some(({ capabilities }) => capabilities.grounding),
  };
}

/** What the model is asked about by name: boxed regions and objects that it has to find itself; else the whole picture. */
function askedObjects({ regions, ungrounded, plan }: ExamineRequest): string[] {
  const objects = [...regions.filter(({ box }) => box !== null).map(({ name }) => name), ...ungrounded];
  const alsoWhole = plan.distortions !== null && Object.hasOwn(plan.distortions, GLOBAL);
  return objects.length === 0 || alsoWhole ? [...objects, GLOBAL] : objects;
}

function namedFor(asked: readonly string[], { plan, named }: ExamineRequest): DistortionSet {
  return Object.fromEntries(
    asked.map((object) => [object, getOwn(plan.distortions, object) ?? getOwn(named, object) ?? []]),
  );
}

/** Objects whose crops fit into one call together; the groups are asked side by side. */
function groupsOf(asked: readonly string[], request: ExamineRequest, { chain }: Workplace): string[][] {
  const most = chain.executor[0]?.capabilities.maxImages ?? 1;
  const room = Math.max(1, most - 1 - (request.hasReference && most > 1 ? 1 : 0));
  const isCropped = (object: string): boolean =>
    request.regions.some(({ name, box }) => name === object && box !== null);
  const cropped = asked.filter(isCropped);
  const whole = asked.filter((object) => !isCropped(object));
  const groups = Array.from({ length: Math.ceil(cropped.length / room) }, (_, index) =>
    cropped.slice(index * room, (index + 1) * room),
  );
  if (groups.length === 0 || (whole.length > 0 && most === 1))
    return [whole, ...groups].filter((group) => group.length > 0);
  return groups.map((group, index) => (index === 0 ? [...whole, ...group] : group));
}

type Asked = Partial<ExecutorMaterial> & { objects: readonly string[] };

async function askModel(
  { request, workplace, time, spoke, isAhead }: ExaminationTask,
  parts: Parts,
  material: Asked,
): Promise<ExaminationReply> {
  const tools = choosableTools(request);
  const lists = { objects: material.objects, tools: tools.map(({ name }) => name) };
  const answered = await workplace.session.ask(
    {
      role: 'executor',
      isAhead,
      compose: async (capabilities) => {
        const able = { ...parts, boxes: parts.boxes && capabilities.grounding };
        const schema = examinationSchema(able, lists);
        return {
          task: taskOf(able),
          promptVersion: EXECUTOR_PROMPT_VERSION,
          system: executorSystem(able),
          prompt: executorPrompt(able, { ...request, tools, distortions: null, ...material }),
          pictures: await picturesFor(material.objects, request.regions, capabilities, workplace),
          schema,
          logprobs: false,
          read: (value, _reply, repaired) => readExamination(value, schema, lists, workplace.registry, repaired),
        };
      },
    },
    time,
  );
  spoke(answered);
  return answered.value;
}

function taskOf({ detection, analysis, selection }: Parts): string {
  const named = [detection ? 'detection' : null, analysis ? 'analysis' : null, selection ? 'selection' : null].filter(
    (part) => part !== null,
  );
  return `executor_${named.length > 1 ? 'merged' : (named[0] ?? 'grounding')}`;
}

/** Only what can be run for this request, and not what an earlier round found at odds with the analysis, while there are others. */
function choosableTools({ tools, hasReference, doubted, regions, shorterSide }: ExamineRequest) {
  const smallest = Math.min(...regions.map(shorterSide));
  const usable = tools.filter(({ type }) => hasReference || type === 'NR');
  const fitting = usable.filter(({ min_side }) => min_side <= smallest);
  const runnable = fitting.length > 0 ? fitting : usable;
  const trusted = runnable.filter(({ name }) => !doubted.has(name));
  return trusted.length > 0 ? trusted : runnable;
}

/** The whole picture once, its reference, and a crop of each boxed region, as far as the model takes that many. */
export async function picturesFor(
  objects: readonly string[],
  regions: readonly ScopedRegion[],
  { maxImages }: Capabilities,
  { pictures }: Workplace,
): Promise<Picture[]> {
  const boxed = regions.flatMap(({ name, box }) => (box !== null && objects.includes(name) ? [{ name, box }] : []));
  const crops = await Promise.all(boxed.slice(0, maxImages).map((region) => pictures.crop(region)));
  // A model that takes a single picture sees the region itself.
  if (maxImages === 1 && crops.length > 0) return crops.slice(0, 1);
  const [whole, reference] = await Promise.all([pictures.whole(), pictures.reference()]);
  return [whole, ...(reference ? [reference] : []), ...crops].slice(0, maxImages);
}

function merge(replies: readonly ExaminationReply[]): ExaminationReply {
  return {
    distortion_set: replies.flatMap((reply) => reply.distortion_set ?? []),
    distortion_analysis: replies.flatMap((reply) => reply.distortion_analysis ?? []),
    selected_tools: replies.flatMap((reply) => reply.selected_tools ?? []),
    boxes: replies.flatMap((reply) => reply.boxes ?? []),
  };
}

/** What the measurements say of the same distortions: for the findings, and for the summarizer to weigh. They were taken while the model thought. */
async function addSecondOpinion(
  examination: Examination,
  { request, workplace, time }: ExaminationTask,
): Promise<Examination> {
  const named = setOf(
    examination.findings.map(({ object_name, distortion }) => ({ object: object_name, distortions: [distortion] })),
    (object) => object,
  );
  const flags = {
    distortion_detection: false,
    distortion_analysis: true,
    tool_selection: false,
    tool_execution: false,
  };
  const opinion = await workplace.embedded
    .examine({ ...request, named, plan: { ...request.plan, plan: flags } }, time.signal)
    .catch(() => null);
  workplace.notes.measured = opinion?.distortion_analysis ?? null;
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
