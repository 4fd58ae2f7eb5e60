// Maps a tool's raw value to the common scale of 1 to 5 with a five-parameter logistic.
import type { Calibration } from '../../schemas/tool.ts';

interface Calibrated {
  score: number;
  /** Whether the curve is outside [1, 5] at this value. */
  clipped: boolean;
}

/** f(x) = β1(½ − 1/(1 + e^{β2(x − β3)})) + β4·x + β5 */
export function calibrate(value: number, { beta }: Pick<Calibration, 'beta'>): Calibrated {
  const [b1 = 0, b2 = 0, b3 = 0, b4 = 0, b5 = 0] = beta;
  const score = b1 * (0.5 - 1 / (1 + Math.exp(b2 * (value - b3)))) + b4 * value + b5;
  const clippedScore = Math.min(5, Math.max(1, score));
  return { score: clippedScore, clipped: clippedScore !== score };
}

/** Interpolates linearly between the five levels for which the spread was fitted. */
export function interpolateSpread(score: number, spread: Calibration['spread']): number | null {
  if (!spread) return null;
  const lower = Math.min(spread.length - 2, Math.max(0, Math.floor(score) - 1));
  const [from = 0, to = 0] = spread.slice(lower, lower + 2);
  return from + (to - from) * (score - (lower + 1));
}
