// The paper's rules that turn an understood query into a plan, shared by all reasoners.
import type { PlanControlFlags, PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { DISTORTION_CATEGORIES, GLOBAL, type DistortionCategory } from '../../../schemas/vocabulary.ts';
import type { ReplanRequest } from './gaps.ts';

export interface UnderstoodQuery {
  queryType: 'IQA' | 'Other';
  /** Empty means the whole image. */
  objects: readonly string[];
  distortions: Readonly<Record<string, readonly DistortionCategory[]>> | null;
  /** Registry name. */
  tool: string | null;
}

export interface PlanSituation {
  hasReference: boolean;
  replan?: ReplanRequest | null;
}

export function derivePlan(understood: UnderstoodQuery, situation: PlanSituation): PlannerOutput {
  const objects = normalizeObjects(understood.objects);
  const isOther = understood.queryType === 'Other';
  const distortions = isOther ? null : assignDistortions(understood.distortions, objects);
  const flags = isOther
    ? everyFlag(false)
    : flagsFor(distortions !== null, objects.length > 0, understood.tool !== null);
  const { hasReference, replan } = situation;
  return {
    query_type: understood.queryType,
    query_scope: objects.length > 0 ? objects : GLOBAL,
    distortion_source: distortions ? 'Explicit' : 'Inferred',
    distortions,
    reference_mode: hasReference ? 'Full-Reference' : 'No-Reference',
    required_tool: understood.tool,
    plan: isOther || !replan ? flags : addMissingSteps(flags, findLacks(replan, objects), understood.tool),
  };
}

function flagsFor(namesDistortions: boolean, namesRegion: boolean, namesTool: boolean): PlanControlFlags {
  return {
    distortion_detection: !namesDistortions,
    distortion_analysis: true,
    tool_selection: !namesTool && !namesRegion,
    tool_execution: namesTool || !namesRegion,
  };
}

const everyFlag = (value: boolean): PlanControlFlags => ({
  distortion_detection: value,
  distortion_analysis: value,
  tool_selection: value,
  tool_execution: value,
});

interface Lacks {
  distortions: boolean;
  analysis: boolean;
  scores: boolean;
  isContradictory: boolean;
}

function addMissingSteps(flags: PlanControlFlags, lacks: Lacks, tool: string | null): PlanControlFlags {
  // Other tools are run on the same distortions: what the query names stays named.
  if (lacks.isContradictory) return { ...everyFlag(true), distortion_detection: flags.distortion_detection };
  if (!(lacks.analysis || lacks.distortions || lacks.scores)) return everyFlag(true);
  return {
    distortion_detection: flags.distortion_detection || lacks.distortions,
    distortion_analysis: flags.distortion_analysis || lacks.analysis,
    tool_selection: flags.tool_selection || (lacks.scores && tool === null),
    tool_execution: flags.tool_execution || lacks.scores,
  };
}

/** The pipeline's gaps are typed; only a model's own words are searched. */
function findLacks({ gaps, modelReason }: ReplanRequest, objects: readonly string[]): Lacks {
  const text = removeNames(modelReason ?? '', objects);
  const has = (kind: ReplanRequest['gaps'][number]['kind']): boolean => gaps.some((gap) => gap.kind === kind);
  return {
    distortions:
      has('missing_distortions') ||
      /distortions|detect|distortion_set/.test(text.replace(/distortions? analys[ei]s/g, '')),
    analysis: has('missing_analysis') || /analy[sz]|severit/.test(text),
    scores: has('missing_scores') || /\bscores?\b|quality_scores|tool/.test(text),
    isContradictory: has('contradicted_tool') || /contradict|disagree|inconsisten|conflict/.test(text),
  };
}

/** An object called "tool box" does not mean a missing tool, nor "(Color distortions)" missing distortions. */
function removeNames(reason: string, objects: readonly string[]): string {
  const withoutCategories = DISTORTION_CATEGORIES.reduce(
    (text, category) => text.replaceAll(category.toLowerCase(), ''),
    ` ${reason.toLowerCase()} `,
  );
  return objects.reduce((text, name) => text.replaceAll(` ${name.toLowerCase()} `, ' '), withoutCategories);
}

function normalizeObjects(objects: readonly string[]): string[] {
  const names = objects
    .map((name) => name.trim())
    .filter((name) => name !== '' && name.toLowerCase() !== GLOBAL.toLowerCase());
  return [...new Set(names)];
}

/** Each object gets the categories named for it, or those named jointly. `Object.fromEntries` makes "__proto__" an ordinary key. */
function assignDistortions(
  named: UnderstoodQuery['distortions'],
  objects: readonly string[],
): Record<string, DistortionCategory[]> | null {
  const entries = Object.entries(named ?? {}).filter(([, categories]) => categories.length > 0);
  if (entries.length === 0) return null;
  const all = [...new Set(entries.flatMap(([, categories]) => categories))];
  if (objects.length === 0) return { [GLOBAL]: all };
  const own = new Map(entries.map(([name, categories]) => [name.trim(), [...new Set(categories)]]));
  const assigned = [...objects, GLOBAL].filter((name) => own.has(name));
  // No key is an object: the query named the distortions for all of them together.
  if (assigned.every((name) => name === GLOBAL)) return Object.fromEntries(objects.map((name) => [name, [...all]]));
  return Object.fromEntries(assigned.map((name) => [name, own.get(name) ?? []]));
}
