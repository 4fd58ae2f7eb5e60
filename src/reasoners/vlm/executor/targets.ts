// What the executor's model is asked for: parts of the reply, objects, groups of objects per call, and tools.
import { GLOBAL } from '../../../../schemas/vocabulary.ts';
import { getOwn } from '../../../lib/get-own.ts';
import type { ExamineRequest } from '../../reasoner.ts';
import type { VlmContext } from '../context.ts';
import type { DistortionSet } from './assemble.ts';
import type { ReplyParts } from './prompts.ts';

export function chooseParts(request: ExamineRequest, { chain }: VlmContext): ReplyParts {
  const {
    plan: { plan: flags },
    ungrounded,
  } = request;
  return {
    detection: flags.distortion_detection,
    analysis: flags.distortion_analysis,
    selection: flags.tool_selection && listSelectableTools(request).length > 0,
    // A call for boxes alone is useless when no back end supports grounding.
    boxes: ungrounded.length > 0 && chain.executor.some(({ capabilities }) => capabilities.grounding),
  };
}

/** Names of boxed regions and of objects that the model has to find; without any, the whole image. */
export function listAskedObjects({ regions, ungrounded, plan }: ExamineRequest): string[] {
  const objects = [...regions.filter(({ box }) => box !== null).map(({ name }) => name), ...ungrounded];
  const alsoWhole = plan.distortions !== null && Object.hasOwn(plan.distortions, GLOBAL);
  return objects.length === 0 || alsoWhole ? [...objects, GLOBAL] : objects;
}

export function listNamed(asked: readonly string[], { plan, named }: ExamineRequest): DistortionSet {
  return Object.fromEntries(
    asked.map((object) => [object, getOwn(plan.distortions, object) ?? getOwn(named, object) ?? []]),
  );
}

/** Objects whose crops fit into one call; the calls run in parallel. */
export function groupByImageLimit(
  asked: readonly string[],
  request: ExamineRequest,
  { chain }: VlmContext,
): string[][] {
  const maxImages = chain.executor[0]?.capabilities.maxImages ?? 1;
  const maxCrops = Math.max(1, maxImages - 1 - (request.hasReference && maxImages > 1 ? 1 : 0));
  const isCropped = (object: string): boolean =>
    request.regions.some(({ name, box }) => name === object && box !== null);
  const cropped = asked.filter(isCropped);
  const whole = asked.filter((object) => !isCropped(object));
  const groups = Array.from({ length: Math.ceil(cropped.length / maxCrops) }, (_, index) =>
    cropped.slice(index * maxCrops, (index + 1) * maxCrops),
  );
  if (groups.length === 0 || (whole.length > 0 && maxImages === 1))
    return [whole, ...groups].filter((group) => group.length > 0);
  return groups.map((group, index) => (index === 0 ? [...whole, ...group] : group));
}

/** Tools that can run for this request; those that contradicted the analysis only when there is no other. */
export function listSelectableTools({ tools, hasReference, contradictedTools, regions, shorterSide }: ExamineRequest) {
  const minSide = Math.min(...regions.map(shorterSide));
  const usable = tools.filter(({ type }) => hasReference || type === 'NR');
  const fitting = usable.filter(({ min_side }) => min_side <= minSide);
  const runnable = fitting.length > 0 ? fitting : usable;
  const trusted = runnable.filter(({ name }) => !contradictedTools.has(name));
  return trusted.length > 0 ? trusted : runnable;
}
