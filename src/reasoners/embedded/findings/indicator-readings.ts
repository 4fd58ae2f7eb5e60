// Reads one indicator of configs/severity.yaml: its measured value and the strength that the value stands for.
import type { MeasuredRegion } from '../../../tools/evidence/source.ts';
import type { Indicator } from './severity-rules.ts';

export interface IndicatorReading {
  indicator: Indicator;
  value: number | null;
  /** The reference's value, for indicators that count only the change from it. */
  original: number | null;
  strength: number;
}

export function readIndicator(indicator: Indicator, { values, reference }: MeasuredRegion): IndicatorReading {
  const value = values[indicator.measurement] ?? null;
  const original = indicator.relative ? (reference?.[indicator.measurement] ?? null) : null;
  if (value === null || isExplainedByScene(indicator, values, reference !== null))
    return { indicator, value, original, strength: 0 };
  return {
    indicator,
    value,
    original,
    strength: computeStrength(indicator, shiftByReference(original, indicator, value)),
  };
}

/** With a reference only the change counts: it is added to the edge of the clean range. */
function shiftByReference(original: number | null, { clean, side }: Indicator, value: number): number {
  if (original === null) return value;
  const [low = 0, high = 0] = clean;
  return (side === 'above' ? high : low) + (value - original);
}

/** 0 at the edge of the clean range, 1 to 4 at the cuts, linear between. */
function computeStrength({ side, cuts, clean }: Indicator, value: number): number {
  const sign = side === 'above' ? 1 : -1;
  const [low = 0, high = 0] = clean;
  const points = [side === 'above' ? high : low, ...cuts].map((point) => point * sign);
  const at = value * sign;
  const next = points.findIndex((point) => at < point);
  if (next === 0) return 0;
  const upper = next === -1 ? points.length - 1 : next;
  const from = points[upper - 1] ?? 0;
  const to = points[upper] ?? from;
  const share = to > from ? (at - from) / (to - from) : 0;
  return Math.max(0, Math.min(upper - 1 + share, points.length));
}

/** Whether the scene explains the value. A reference shows the scene itself, so most of these exceptions do not apply beside one. */
function isExplainedByScene({ unless }: Indicator, values: MeasuredRegion['values'], hasReference: boolean): boolean {
  const other = unless ? (values[unless.measurement] ?? null) : null;
  if (!unless || other === null || (hasReference && !unless.always)) return false;
  return (unless.below !== null && other < unless.below) || (unless.above !== null && other > unless.above);
}
