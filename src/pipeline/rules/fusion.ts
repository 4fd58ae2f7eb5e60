// One number from two sources: the tools' mean and the reasoner's probabilities of the five levels.
import type { QualityScore } from '../../../schemas/responses/assessment.ts';
import type { ExecutorOutput } from '../../../schemas/pipeline/executor.ts';
import type { Calibration } from '../../../schemas/tool.ts';
import { LEVELS, type Level } from '../../../schemas/vocabulary.ts';
import type { LevelProbabilities } from '../../reasoners/reasoner.ts';
import { spreadAt } from '../../tools/calibration.ts';

export interface OwnProbabilities {
  probabilities: LevelProbabilities;
  method: QualityScore['method'];
}

/** What the lead tools say together. */
export interface ToolVerdict {
  /** q̄ */
  mean: number;
  /** Standard deviation of human ratings around it, or null where a lead tool's is not known. */
  spread: number | null;
}

/** Eight of ten ratings of a normal distribution lie within so many deviations. */
const INTERVAL_DEVIATIONS = 1.2816;

/**
 * α_c ∝ exp(−η(q̄ − c)²); q = Σ α_c p_c c / Σ α_c p_c. Without tools α is uniform. A reasoner without probabilities of its own leaves p to
 * the tools' calibrated distribution; where that is not known either, p is uniform. With neither tools nor probabilities there is no score.
 */
export function fuse(tools: ToolVerdict | null, own: OwnProbabilities | null, eta: number): QualityScore | null {
  if (tools === null && own === null) return null;
  const believed = own?.probabilities ?? (tools?.spread ? distributionOf(tools.mean, tools.spread) : null);
  const weights = normalise(
    LEVELS.map((_, index) => (tools === null ? 1 : Math.exp(-eta * (tools.mean - (index + 1)) ** 2))),
  );
  const probabilities = normalise(LEVELS.map((level) => believed?.[level] ?? 1));
  const joint = weights.map((weight, index) => weight * (probabilities[index] ?? 0));
  const total = joint.reduce((sum, share) => sum + share, 0);
  // Tools and reasoner exclude each other entirely: no level is possible, and a made-up number would hide that.
  if (total < Number.MIN_VALUE) return null;
  const value = clamp(rounded(joint.reduce((sum, share, index) => sum + share * (index + 1), 0) / total));
  return {
    value,
    level: levelOf(value),
    interval: tools?.spread ? intervalAround(tools.mean, tools.spread, value) : null,
    method: tools === null ? 'reasoner_only' : (own?.method ?? (believed ? 'distribution' : 'tools_only')),
    tool_mean: tools?.mean ?? null,
    weights: byLevel(weights),
    probabilities: byLevel(probabilities),
  };
}

/** How much of a normal distribution falls to each level; what lies beyond the scale falls to its ends. */
function distributionOf(mean: number, spread: number): LevelProbabilities {
  const below = (border: number): number => cumulative((border - mean) / spread);
  return byLevel(
    LEVELS.map(
      (_, index) => (index === LEVELS.length - 1 ? 1 : below(index + 1.5)) - (index === 0 ? 0 : below(index + 0.5)),
    ),
  );
}

/** Around the tools' mean, for which the spread was measured; the fused value is drawn towards whole levels, and is always inside. */
function intervalAround(mean: number, spread: number, value: number): [number, number] {
  const half = INTERVAL_DEVIATIONS * spread;
  return [clamp(Math.min(value, rounded(mean - half))), clamp(Math.max(value, rounded(mean + half)))];
}

/** Φ by the logistic function; within 0.01 of the normal distribution's, far closer than any spread is known. */
const cumulative = (deviations: number): number => 1 / (1 + Math.exp(-1.702 * deviations));

/** Six digits: far finer than any tool, and 3.0000000000000004 becomes 3. */
const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

/** The mean over the distinct lead tools, each counted once, and how far human ratings lie from it. A tool with several scores counts with their mean. */
export function weighLeadTools(
  evidence: ExecutorOutput,
  calibrationOf: (tool: string) => Pick<Calibration, 'spread'> | undefined,
): ToolVerdict | null {
  const means = meansByTool(evidence);
  if (means.size === 0) return null;
  const q = mean([...means.values()]);
  const spreads = [...means].map(([tool, score]) => spreadAt(score, calibrationOf(tool)?.spread ?? null));
  if (spreads.some((spread) => spread === null)) return { mean: q, spread: null };
  // Tools err together, so that their mean is no surer than they are; that they disagree makes it less sure.
  const variance =
    mean(spreads.map((spread) => (spread ?? 0) ** 2)) + mean([...means.values()].map((score) => (score - q) ** 2));
  return { mean: q, spread: Math.sqrt(variance) };
}

export function meansByTool({ quality_scores }: ExecutorOutput): Map<string, number> {
  const byTool = new Map<string, number[]>();
  for (const [tool, score] of Object.values(quality_scores ?? {}).flatMap((scores) => Object.values(scores))) {
    byTool.set(tool, [...(byTool.get(tool) ?? []), score]);
  }
  return new Map([...byTool].map(([tool, scores]) => [tool, mean(scores)]));
}

/** Round half up: 4.5 is Excellent. */
export function levelOf(score: number): Level {
  const index = Math.min(LEVELS.length, Math.max(1, Math.floor(score + 0.5))) - 1;
  return LEVELS[index] ?? 'Fair';
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const clamp = (value: number): number => Math.min(5, Math.max(1, value));
const byLevel = (values: readonly number[]) =>
  Object.fromEntries(LEVELS.map((level, index) => [level, values[index] ?? 0])) as LevelProbabilities;

function normalise(values: readonly number[]): number[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  return values.map((value) => (total > 0 ? value / total : 1 / values.length));
}
