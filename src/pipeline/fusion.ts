// One number from two sources: the tools' mean and the reasoner's probabilities of the five levels.
import type { QualityScore } from '../../schemas/assessment.ts';
import type { ExecutorOutput } from '../../schemas/executor.ts';
import { LEVELS, type Level } from '../../schemas/vocabulary.ts';
import type { LevelProbabilities } from '../reasoners/reasoner.ts';

export interface OwnProbabilities {
  probabilities: LevelProbabilities;
  method: QualityScore['method'];
}

/**
 * α_c ∝ exp(−η(q̄ − c)²); q = Σ α_c p_c c / Σ α_c p_c. Without tools α is uniform, without probabilities p is;
 * with neither there is no score.
 */
export function fuse(toolMean: number | null, own: OwnProbabilities | null, eta: number): QualityScore | null {
  if (toolMean === null && own === null) return null;
  const weights = normalise(LEVELS.map((_, index) => (toolMean === null ? 1 : Math.exp(-eta * (toolMean - (index + 1)) ** 2))));
  const probabilities = normalise(LEVELS.map((level) => own?.probabilities[level] ?? 1));
  const joint = weights.map((weight, index) => weight * (probabilities[index] ?? 0));
  const total = joint.reduce((sum, share) => sum + share, 0);
  // Tools and reasoner exclude each other entirely: no level is possible, and a made-up number would hide that.
  if (total < Number.MIN_VALUE) return null;
  // Six digits: far finer than any tool, and 3.0000000000000004 becomes 3.
  const value = clamp(Math.round(joint.reduce((sum, share, index) => sum + share * (index + 1), 0) / total * 1e6) / 1e6);
  return {
    value,
    level: levelOf(value),
    interval: null,
    method: own === null ? 'tools_only' : toolMean === null ? 'reasoner_only' : own.method,
    tool_mean: toolMean,
    weights: byLevel(weights),
    probabilities: byLevel(probabilities),
  };
}

/** q̄: the mean over the distinct lead tools, each counted once. A tool with several scores counts with their mean. */
export function meanOfLeadTools(evidence: ExecutorOutput): number | null {
  const means = meansByTool(evidence);
  return means.size === 0 ? null : mean([...means.values()]);
}

export function meansByTool({ quality_scores }: ExecutorOutput): Map<string, number> {
  const byTool = new Map<string, number[]>();
  for (const [tool, score] of Object.values(quality_scores ?? {}).flatMap((scores) => Object.values(scores))) {
    byTool.set(tool, [...byTool.get(tool) ?? [], score]);
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
const byLevel = (values: readonly number[]) => Object.fromEntries(LEVELS.map((level, index) => [level, values[index] ?? 0])) as LevelProbabilities;

function normalise(values: readonly number[]): number[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  return values.map((value) => (total > 0 ? value / total : 1 / values.length));
}
