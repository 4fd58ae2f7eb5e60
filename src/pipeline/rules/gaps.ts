// Whether the evidence suffices: scope covered, scores present where the plan asked for them, analysis and scores not at odds.
import type { ExecutorOutput } from '../../../schemas/pipeline/executor.ts';
import type { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import type { SummarizerOutput } from '../../../schemas/pipeline/summarizer.ts';
import { GLOBAL, type DistortionCategory } from '../../../schemas/vocabulary.ts';
import { getOwn } from '../../lib/get-own.ts';
import { REPLAN_REASONS } from './plan.ts';
import type { Scope } from './scope.ts';

/** Scores from here on call a picture nearly perfect; below the other one, ruined. */
const NEARLY_PERFECT = 4.5;
const RUINED = 1.5;

/** Under this name the log says that no tool could be run at all: asking again would not bring them back. */
export const NO_TOOLS = 'tools';

/** How well a tool ranks a distortion, 0 to 1; null when nobody measured it. */
export type StrengthOf = (tool: string, distortion: DistortionCategory) => number | null;

/** A tool that ranks a distortion worse than this is blind to it: its praise contradicts nobody. */
const SEES_FROM = 0.5;
const seesAll: StrengthOf = () => null;

/** Whether a tool is a learned fusion: it weighs everything at once. A list of distortions cannot prove it wrong, nor a single tool judge better. */
export type IsFusion = (tool: string) => boolean;
const none: IsFusion = () => false;

/** What is missing, as reasons for a replan; empty when the evidence suffices. An object without a box is never a gap. */
export function findGaps(
  plan: PlannerOutput,
  evidence: ExecutorOutput,
  scope: Scope,
  strengthOf: StrengthOf = seesAll,
  isFusion: IsFusion = none,
): string[] {
  if (plan.query_type === 'Other') return [];
  const { distortion_detection, distortion_analysis } = plan.plan;
  const tool_execution = plan.plan.tool_execution && !evidence.tool_logs.some((log) => log.tool_name === NO_TOOLS);
  return scope.regions.flatMap(({ name }) => {
    const asked = isAsked(name, scope);
    const detected = getOwn(evidence.distortion_set, name) ?? getOwn(scope.named, name) ?? [];
    const analysed = getOwn(evidence.distortion_analysis, name) ?? [];
    const scored = Object.keys(getOwn(evidence.quality_scores, name) ?? {}) as DistortionCategory[];
    return [
      ...(distortion_detection && detected.length === 0 ? [REPLAN_REASONS.distortions(name)] : []),
      ...(distortion_analysis && asked
        ? lackOf(
            detected,
            analysed.map(({ type }) => type),
            (of) => REPLAN_REASONS.distortionAnalysis(name, of),
          )
        : []),
      ...(tool_execution && asked ? lackOf(detected, scored, (of) => REPLAN_REASONS.toolScores(name, of)) : []),
      ...(findConflict(evidence, name, strengthOf, isFusion) === null ? [] : [REPLAN_REASONS.contradiction(name)]),
    ];
  });
}

type Categories = readonly DistortionCategory[];

/** All of it missing is said plainly; where a part is there, the rest by name. */
function lackOf(wanted: Categories, present: Categories, reason: (of: Categories) => string): string[] {
  const missing = wanted.filter((category) => !present.includes(category));
  if (present.length === 0) return [reason([])];
  return missing.length > 0 ? [reason(missing)] : [];
}

/** With distortions named per object, a region without any named one has nothing to be analysed. */
const isAsked = (name: string, scope: Scope): boolean =>
  scope.named === null || (getOwn(scope.named, name)?.length ?? 0) > 0;

/** The lead tool that contradicts the analysis of its own distortion, if any. */
function findConflict(
  evidence: ExecutorOutput,
  object: string,
  strengthOf: StrengthOf,
  isFusion: IsFusion,
): string | null {
  const analyses = getOwn(evidence.distortion_analysis, object) ?? [];
  for (const [distortion, [tool, score]] of Object.entries(getOwn(evidence.quality_scores, object) ?? {})) {
    if (isFusion(tool)) continue;
    const severity = analyses.find((analysis) => analysis.type === distortion)?.severity;
    const sees = (strengthOf(tool, distortion as DistortionCategory) ?? 1) >= SEES_FROM;
    if (severity === 'extreme' && score >= NEARLY_PERFECT && sees) return tool;
    // A question about one distortion says nothing of the others, which may well have ruined the picture.
    if (
      evidence.distortion_set !== null &&
      score <= RUINED &&
      analyses.every((analysis) => analysis.severity === 'none')
    )
      return tool;
  }
  return null;
}

/** Lead tools of the last round that its summarizer found at odds with the analysis: the next round asks others. */
export function doubtedTools(
  evidence: ExecutorOutput | undefined,
  result: SummarizerOutput | undefined,
  strengthOf: StrengthOf = seesAll,
  isFusion: IsFusion = none,
): ReadonlySet<string> {
  if (!evidence || !result?.need_replan) return new Set();
  const objects = Object.keys(evidence.quality_scores ?? {});
  return new Set(
    (objects.length > 0 ? objects : [GLOBAL]).flatMap(
      (object) => findConflict(evidence, object, strengthOf, isFusion) ?? [],
    ),
  );
}
