// Finds what the evidence lacks: missing distortions, analyses or scores, and scores that contradict the analysis.
import type { ExecutorOutput } from '../../../schemas/pipeline/executor.ts';
import type { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { GLOBAL, type DistortionCategory } from '../../../schemas/vocabulary.ts';
import { getOwn } from '../../lib/get-own.ts';
import type { ToolRegistry } from '../../tools/registry.ts';
import type { Scope } from './scope.ts';

export type Gap =
  | { kind: 'missing_distortions'; region: string }
  /** No distortions listed: all of them are missing. */
  | { kind: 'missing_analysis' | 'missing_scores'; region: string; distortions: DistortionCategory[] }
  | { kind: 'contradicted_tool'; region: string; tool: string };

/** Why another round is wanted: the pipeline's own gaps, and a model's reason in its own words. */
export interface ReplanRequest {
  gaps: readonly Gap[];
  modelReason: string | null;
}

/** The text of `replan_reason`; null without any reason. */
export function formatReplanReason({ gaps, modelReason }: ReplanRequest): string | null {
  const reasons = [...gaps.map(formatGap), ...(modelReason ? [modelReason] : [])];
  return reasons.length > 0 ? [...new Set(reasons)].join('; ') : null;
}

export function formatGap(gap: Gap): string {
  const region = gap.region === GLOBAL ? GLOBAL : `${gap.region} region`;
  switch (gap.kind) {
    case 'missing_distortions':
      return `Missing distortions for ${region}`;
    case 'missing_analysis':
      return `Missing distortion analysis for ${region}${inParentheses(gap.distortions)}`;
    case 'missing_scores':
      return `Missing tool scores for ${region}${inParentheses(gap.distortions)}`;
    case 'contradicted_tool':
      return `Contradicting analysis and tool scores for ${region}`;
  }
}

const inParentheses = (names: readonly string[]): string => (names.length > 0 ? ` (${names.join(', ')})` : '');

/** Scores on the scale from 1 to 5 that contradict an extreme distortion, or no distortion at all. */
const VERY_HIGH_SCORE = 4.5;
const VERY_LOW_SCORE = 1.5;

/** A tool that ranks a distortion worse than this does not react to it: its high score contradicts nothing. */
const MIN_STRENGTH = 0.5;

/** The log entry's name when no tool could be run at all: a replan would not bring them back. */
export const NO_TOOLS = 'tools';

type ToolTraits = Pick<ToolRegistry, 'strengthOf' | 'isFusion'>;

/** Empty when the evidence suffices. An object without a box is never a gap. */
export function findGaps(plan: PlannerOutput, evidence: ExecutorOutput, scope: Scope, tools: ToolTraits): Gap[] {
  if (plan.query_type === 'Other') return [];
  const { distortion_detection, distortion_analysis } = plan.plan;
  const tool_execution = plan.plan.tool_execution && !evidence.tool_logs.some((log) => log.tool_name === NO_TOOLS);
  return scope.regions.flatMap(({ name: region }): Gap[] => {
    const isAsked = isAskedAbout(region, scope);
    const detected = getOwn(evidence.distortion_set, region) ?? getOwn(scope.named, region) ?? [];
    const analysed = (getOwn(evidence.distortion_analysis, region) ?? []).map(({ type }) => type);
    const scored = Object.keys(getOwn(evidence.quality_scores, region) ?? {});
    const contradicted = findContradictedTool(evidence, region, tools);
    return [
      ...(distortion_detection && detected.length === 0 ? [{ kind: 'missing_distortions', region } as const] : []),
      ...(distortion_analysis && isAsked ? findMissing('missing_analysis', region, detected, analysed) : []),
      ...(tool_execution && isAsked ? findMissing('missing_scores', region, detected, scored) : []),
      ...(contradicted === null ? [] : [{ kind: 'contradicted_tool', region, tool: contradicted } as const]),
    ];
  });
}

function findMissing(
  kind: 'missing_analysis' | 'missing_scores',
  region: string,
  wanted: readonly DistortionCategory[],
  present: readonly string[],
): Gap[] {
  if (present.length === 0) return [{ kind, region, distortions: [] }];
  const distortions = wanted.filter((category) => !present.includes(category));
  return distortions.length > 0 ? [{ kind, region, distortions }] : [];
}

/** With distortions named per object, a region without any has nothing to be analysed. */
const isAskedAbout = (region: string, { named }: Scope): boolean =>
  named === null || (getOwn(named, region)?.length ?? 0) > 0;

/** The lead tool that contradicts the analysis of its own distortion, if any. */
function findContradictedTool(evidence: ExecutorOutput, region: string, tools: ToolTraits): string | null {
  const analyses = getOwn(evidence.distortion_analysis, region) ?? [];
  for (const [distortion, [tool, score]] of Object.entries(getOwn(evidence.quality_scores, region) ?? {})) {
    // A learned fusion weighs everything at once: no single distortion contradicts it.
    if (tools.isFusion(tool)) continue;
    const severity = analyses.find((analysis) => analysis.type === distortion)?.severity;
    const reacts = (tools.strengthOf(tool, distortion as DistortionCategory) ?? 1) >= MIN_STRENGTH;
    if (severity === 'extreme' && score >= VERY_HIGH_SCORE && reacts) return tool;
    // Without detection only the named distortions were analysed: another one may explain the low score.
    const isUnexplained =
      evidence.distortion_set !== null && analyses.every((analysis) => analysis.severity === 'none');
    if (score <= VERY_LOW_SCORE && isUnexplained) return tool;
  }
  return null;
}
