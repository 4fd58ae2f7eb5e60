// Between understanding and execution: the paper's rules that turn what was asked into the plan's flags, for every reasoner.
import type { PlanControlFlags, PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { DISTORTION_CATEGORIES, GLOBAL, type DistortionCategory } from '../../../schemas/vocabulary.ts';

export interface UnderstoodQuery {
  queryType: 'IQA' | 'Other';
  /** Empty means the whole picture. */
  objects: readonly string[];
  distortions: Readonly<Record<string, readonly DistortionCategory[]>> | null;
  tool: string | null;
}

export interface PlanSituation {
  hasReference: boolean;
  replan?: { reason: string } | null;
}

const regionOf = (object: string): string => (object === GLOBAL ? GLOBAL : `${object} region`);

type Categories = readonly DistortionCategory[];
/** Where a part is there, what is missing of it. */
const only = (categories: Categories): string => (categories.length > 0 ? ` (${categories.join(', ')})` : '');

/** How the summarizer's evidence check words what is missing, so that the rule below recognises it. */
export const REPLAN_REASONS = {
  toolScores: (object: string, of: Categories = []): string => `Missing tool scores for ${regionOf(object)}${only(of)}`,
  distortionAnalysis: (object: string, of: Categories = []): string =>
    `Missing distortion analysis for ${regionOf(object)}${only(of)}`,
  distortions: (object: string): string => `Missing distortions for ${regionOf(object)}`,
  contradiction: (object: string): string => `Contradicting analysis and tool scores for ${regionOf(object)}`,
} as const;

export function derivePlan(understood: UnderstoodQuery, situation: PlanSituation): PlannerOutput {
  const objects = nameObjects(understood.objects);
  const isOther = understood.queryType === 'Other';
  const distortions = isOther ? null : assignDistortions(understood.distortions, objects);
  const flags = isOther
    ? everyFlag(false)
    : flagsFor(distortions !== null, objects.length > 0, understood.tool !== null);
  const reason = situation.replan?.reason;
  return {
    query_type: understood.queryType,
    query_scope: objects.length > 0 ? objects : GLOBAL,
    distortion_source: distortions ? 'Explicit' : 'Inferred',
    distortions,
    reference_mode: situation.hasReference ? 'Full-Reference' : 'No-Reference',
    required_tool: understood.tool,
    plan: isOther || reason === undefined ? flags : turnOnMissing(flags, reason, objects, understood.tool),
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

function turnOnMissing(
  flags: PlanControlFlags,
  reason: string,
  objects: readonly string[],
  tool: string | null,
): PlanControlFlags {
  const text = withoutNames(reason, objects);
  const contradicts = /contradict|disagree|inconsisten|conflict/.test(text);
  const lacksAnalysis = /analy[sz]|severit/.test(text);
  const lacksDistortions = /distortions|detect|distortion_set/.test(text.replace(/distortions? analys[ei]s/g, ''));
  const lacksScores = /\bscores?\b|quality_scores|tool/.test(text);
  // Other tools are asked, but about the same distortions: what the query names stays named.
  if (contradicts) return { ...everyFlag(true), distortion_detection: flags.distortion_detection };
  if (!(lacksAnalysis || lacksDistortions || lacksScores)) return everyFlag(true);
  return {
    distortion_detection: flags.distortion_detection || lacksDistortions,
    distortion_analysis: flags.distortion_analysis || lacksAnalysis,
    tool_selection: flags.tool_selection || (lacksScores && tool === null),
    tool_execution: flags.tool_execution || lacksScores,
  };
}

/** An object that happens to be called "tool box" must not read as a missing tool, nor "(Color distortions)" as missing distortions. */
function withoutNames(reason: string, objects: readonly string[]): string {
  const bare = DISTORTION_CATEGORIES.reduce(
    (text, category) => text.replaceAll(category.toLowerCase(), ''),
    ` ${reason.toLowerCase()} `,
  );
  return objects.reduce((text, name) => text.replaceAll(` ${name.toLowerCase()} `, ' '), bare);
}

function nameObjects(objects: readonly string[]): string[] {
  const names = objects
    .map((name) => name.trim())
    .filter((name) => name !== '' && name.toLowerCase() !== GLOBAL.toLowerCase());
  return [...new Set(names)];
}

/** Each object gets the categories named for it, or those named jointly; `Object.fromEntries` makes "__proto__" an ordinary key. */
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
  // Nothing is keyed by an object: the query named the distortions for all of them together.
  if (assigned.every((name) => name === GLOBAL)) return Object.fromEntries(objects.map((name) => [name, [...all]]));
  return Object.fromEntries(assigned.map((name) => [name, own.get(name) ?? []]));
}
