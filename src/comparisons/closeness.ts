// Decides when two scores are too close to call: the probability that one image is better, from the scores and their intervals.
import type { QualityScore } from '../../schemas/responses/assessment.ts';
import { HALF_WIDTH_80, normalCdf } from './normal.ts';

export interface ClosenessRule {
  /** Smallest probability at which an image is called better. */
  decided_at: number;
  /** Correlation of the errors of the two scores. */
  shared_error: number;
  /** Standard deviation of a score without an interval. */
  spread_without_interval: number;
}

/**
 * The standard deviation of a normal distribution with this 80 % interval. The wider side counts:
 * the other one may be clipped at the end of the scale.
 */
export function computeSpread(
  { value, interval }: Pick<QualityScore, 'value' | 'interval'>,
  rule: ClosenessRule,
): number {
  const [low, high] = interval ?? [];
  if (low === undefined || high === undefined) return rule.spread_without_interval;
  return Math.max(high - value, value - low, 0) / HALF_WIDTH_80;
}

/**
 * P(A > B) for normal errors: Φ((a − b) / √(s² + t² − 2ρst)). Errors that both images share cancel in the difference:
 * ρ > 0 makes pairs easier to distinguish, ρ = 0 is the conservative choice.
 */
export function computeBetterProbability(
  a: number,
  b: number,
  spreads: readonly [number, number],
  { shared_error: correlation }: ClosenessRule,
): number {
  const [s, t] = spreads;
  const spread = Math.sqrt(Math.max(0, s * s + t * t - 2 * correlation * s * t));
  if (spread === 0) return a === b ? 0.5 : Number(a > b);
  return normalCdf((a - b) / spread);
}
