// Fuses the tools' mean score with the reasoner's probabilities of the five levels into one score.
import type { QualityScore } from '../../../schemas/responses/assessment.ts';
import type { ExecutorOutput } from '../../../schemas/pipeline/executor.ts';
import type { Calibration } from '../../../schemas/tool.ts';
import { LEVELS, type Level, type LevelProbabilities } from '../../../schemas/vocabulary.ts';
import { mean } from '../../lib/mean.ts';
import type { OwnProbabilities } from '../../reasoners/reasoner.ts';
import { interpolateSpread } from '../../tools/calibration.ts';

/** The lead tools taken together. */
interface ToolVerdict {
  /** q̄ */
  mean: number;
  /** Standard deviation of human ratings around it; null when it is unknown for a lead tool. */
  spread: number | null;
}

/** 80 % of a normal distribution lie within so many standard deviations. */
const INTERVAL_DEVIATIONS = 1.2816;

/**
 * α_c ∝ exp(−η(q̄ − c)²); q = Σ α_c p_c c / Σ α_c p_c. Without tools α is uniform. Without the reasoner's own probabilities p is the tools'
 * calibrated distribution, or uniform if that is unknown. With neither tools nor probabilities there is no score.
 */
export function fuse(tools: ToolVerdict | null, own: OwnProbabilities | null, eta: number): QualityScore | null {
  if (tools === null && own === null) return null;
  const ownOrTools = own?.probabilities ?? (tools?.spread ? normalDistribution(tools.mean, tools.spread) : null);
  const weights = normalize(
    LEVELS.map((_, index) => (tools === null ? 1 : Math.exp(-eta * (tools.mean - (index + 1)) ** 2))),
  );
  const probabilities = normalize(LEVELS.map((level) => ownOrTools?.[level] ?? 1));
  const joint = weights.map((weight, index) => weight * (probabilities[index] ?? 0));
  const total = joint.reduce((sum, share) => sum + share, 0);
  // Tools and reasoner exclude each other: no level is possible, and a made-up number would hide that.
  if (total < Number.MIN_VALUE) return null;
  const value = clamp(roundScore(joint.reduce((sum, share, index) => sum + share * (index + 1), 0) / total));
  return {
    value,
    level: scoreToLevel(value),
    interval: tools?.spread ? intervalAround(tools.mean, tools.spread, value) : null,
    method: tools === null ? 'reasoner_only' : (own?.method ?? (ownOrTools ? 'distribution' : 'tools_only')),
    tool_mean: tools?.mean ?? null,
    weights: byLevel(weights),
    probabilities: byLevel(probabilities),
  };
}

/** The share of a normal distribution that falls to each level; values off the scale count for its ends. */
function normalDistribution(mean: number, spread: number): LevelProbabilities {
  const below = (border: number): number => normalCdf((border - mean) / spread);
  return byLevel(
    LEVELS.map(
      (_, index) => (index === LEVELS.length - 1 ? 1 : below(index + 1.5)) - (index === 0 ? 0 : below(index + 0.5)),
    ),
  );
}

/** Around the tools' mean, for which the spread was measured. Always contains the fused value, which is drawn towards whole levels. */
function intervalAround(mean: number, spread: number, value: number): [number, number] {
  const half = INTERVAL_DEVIATIONS * spread;
  return [clamp(Math.min(value, roundScore(mean - half))), clamp(Math.max(value, roundScore(mean + half)))];
}

/** Φ approximated by the logistic function: the error is below 0.01, far less than that of any spread. */
const normalCdf = (deviations: number): number => 1 / (1 + Math.exp(-1.702 * deviations));

/** Six digits, more than any tool resolves: 3.0000000000000004 becomes 3. */
const roundScore = (value: number): number => Math.round(value * 1e6) / 1e6;

/** The mean over the distinct lead tools and the spread of human ratings around it. A tool with several scores counts once, with their mean. */
export function weighLeadTools(
  evidence: ExecutorOutput,
  getCalibration: (tool: string) => Pick<Calibration, 'spread'> | undefined,
): ToolVerdict | null {
  const means = meansByTool(evidence);
  if (means.size === 0) return null;
  const toolMean = mean([...means.values()]);
  const spreads = [...means].map(([tool, score]) => interpolateSpread(score, getCalibration(tool)?.spread ?? null));
  if (spreads.some((spread) => spread === null)) return { mean: toolMean, spread: null };
  // Tools' errors are correlated: averaging does not reduce the variance, and disagreement adds to it.
  const variance =
    mean(spreads.map((spread) => (spread ?? 0) ** 2)) +
    mean([...means.values()].map((score) => (score - toolMean) ** 2));
  return { mean: toolMean, spread: Math.sqrt(variance) };
}

/** Quality scores as a flat list. */
export function listScores({ quality_scores }: ExecutorOutput) {
  return Object.entries(quality_scores ?? {}).flatMap(([object, scores]) =>
    Object.entries(scores).map(([distortion, [tool, score]]) => ({ object, distortion, tool, score })),
  );
}

export function meansByTool(evidence: ExecutorOutput): Map<string, number> {
  const byTool = new Map<string, number[]>();
  for (const { tool, score } of listScores(evidence)) byTool.set(tool, [...(byTool.get(tool) ?? []), score]);
  return new Map([...byTool].map(([tool, scores]) => [tool, mean(scores)]));
}

/** Round half up: 4.5 is Excellent. */
export function scoreToLevel(score: number): Level {
  const index = Math.min(LEVELS.length, Math.max(1, Math.floor(score + 0.5))) - 1;
  return LEVELS[index] ?? 'Fair';
}

const clamp = (value: number): number => Math.min(5, Math.max(1, value));
const byLevel = (values: readonly number[]) =>
  Object.fromEntries(LEVELS.map((level, index) => [level, values[index] ?? 0])) as LevelProbabilities;

function normalize(values: readonly number[]): number[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  return values.map((value) => (total > 0 ? value / total : 1 / values.length));
}
