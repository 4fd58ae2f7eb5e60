// Whether the evidence suffices: scope covered, scores present where the plan asked for them, analysis and scores not at odds.
import type { ExecutorOutput } from '../../schemas/executor.ts';
import type { PlannerOutput } from '../../schemas/planner.ts';
import type { SummarizerOutput } from '../../schemas/summarizer.ts';
import { GLOBAL } from '../../schemas/vocabulary.ts';
import { ownEntry } from './own-entry.ts';
import { REPLAN_REASONS } from './plan-rules.ts';
import type { Scope } from './scope.ts';

/** Scores from here on call a picture nearly perfect; below the other one, ruined. */
const NEARLY_PERFECT = 4.5;
const RUINED = 1.5;

/** Under this name the log says that no tool could be run at all: asking again would not bring them back. */
export const NO_TOOLS = 'tools';

/** What is missing, as reasons for a replan; empty when the evidence suffices. An object without a box is never a gap. */
export function findGaps(plan: PlannerOutput, evidence: ExecutorOutput, scope: Scope): string[] {
  if (plan.query_type === 'Other') return [];
  const { distortion_detection, distortion_analysis } = plan.plan;
  const tool_execution = plan.plan.tool_execution && !evidence.tool_logs.some((log) => log.tool_name === NO_TOOLS);
  return scope.regions.flatMap(({ name }) => {
    const asked = isAsked(name, scope);
    const detected = ownEntry(evidence.distortion_set, name) ?? ownEntry(scope.named, name) ?? [];
    const analysed = ownEntry(evidence.distortion_analysis, name) ?? [];
    const scored = Object.keys(ownEntry(evidence.quality_scores, name) ?? {});
    return [
      ...(distortion_detection && detected.length === 0 ? [REPLAN_REASONS.distortions(name)] : []),
      ...(distortion_analysis && asked && analysed.length === 0 ? [REPLAN_REASONS.distortionAnalysis(name)] : []),
      ...(tool_execution && asked && scored.length === 0 ? [REPLAN_REASONS.toolScores(name)] : []),
      ...(findConflict(evidence, name) === null ? [] : [REPLAN_REASONS.contradiction(name)]),
    ];
  });
}

/** With distortions named per object, a region without any named one has nothing to be analysed. */
const isAsked = (name: string, scope: Scope): boolean => scope.named === null || (ownEntry(scope.named, name)?.length ?? 0) > 0;

/** The lead tool that contradicts the analysis of its own distortion, if any. */
function findConflict(evidence: ExecutorOutput, object: string): string | null {
  const analyses = ownEntry(evidence.distortion_analysis, object) ?? [];
  for (const [distortion, [tool, score]] of Object.entries(ownEntry(evidence.quality_scores, object) ?? {})) {
    const severity = analyses.find((analysis) => analysis.type === distortion)?.severity;
    if (severity === 'extreme' && score >= NEARLY_PERFECT) return tool;
    // A question about one distortion says nothing of the others, which may well have ruined the picture.
    if (evidence.distortion_set !== null && score <= RUINED && analyses.every((analysis) => analysis.severity === 'none')) return tool;
  }
  return null;
}

/** Lead tools of the last round that its summarizer found at odds with the analysis: the next round asks others. */
export function doubtedTools(evidence: ExecutorOutput | undefined, result: SummarizerOutput | undefined): ReadonlySet<string> {
  if (!evidence || !result?.need_replan) return new Set();
  const objects = Object.keys(evidence.quality_scores ?? {});
  return new Set((objects.length > 0 ? objects : [GLOBAL]).flatMap((object) => findConflict(evidence, object) ?? []));
}
