// When two scores are too close to call: the probability that one picture is really better, from their means and spreads.
import type { QualityScore } from '../../schemas/responses/assessment.ts';
import { HALF_WIDTH_80, normalCdf } from '../../benchmarks/statistics/normal.ts';

export interface ClosenessRule {
  /** Probability from which on a picture is called better. */
  decided_at: number;
  /** Correlation of the errors of the two scores. */
  shared_error: number;
  /** Standard deviation of a score that came without an interval. */
  spread_without_interval: number;
}

/**
 * The standard deviation behind an 80 % interval, taken as that of a normal distribution. The wider side counts:
 * the other one may have been cut off at the end of the scale.
 */
export function spreadOf({ value, interval }: Pick<QualityScore, 'value' | 'interval'>, rule: ClosenessRule): number {
  const [low, high] = interval ?? [];
  if (low === undefined || high === undefined) return rule.spread_without_interval;
  return Math.max(high - value, value - low, 0) / HALF_WIDTH_80;
}

/**
 * P(A > B) where both errors are normal: Φ((a − b) / √(s² + t² − 2ρst)). Errors that both pictures share cancel in the difference,
 * so that ρ > 0 makes pairs easier to tell apart; ρ = 0 is the careful choice.
 */
export function probabilityOfBetter(
  a: number,
  b: number,
  spreads: readonly [number, number],
  { shared_error: shared }: ClosenessRule,
): number {
  const [s, t] = spreads;
  const spread = Math.sqrt(Math.max(0, s * s + t * t - 2 * shared * s * t));
  if (spread === 0) return a === b ? 0.5 : Number(a > b);
  return normalCdf((a - b) / spread);
}
