// Writes the explanation of a finding: the measured value and what it is compared with.
import { upperFirst } from '../answers/text/names.ts';
import type { IndicatorReading } from './indicator-readings.ts';
import type { Indicator } from './severity-rules.ts';

/** Where no single measurement shows the distortion, the detector's strength is the evidence. */
export function explainDetection(lead: IndicatorReading | undefined, detected: number | null): string {
  if (detected === null || detected < 1) return explainReading(lead);
  return `Compared with graded photos, the strength is ${detected.toFixed(2)} out of 5; no single measurement shows it.`;
}

export function explainReading(reading: IndicatorReading | undefined): string {
  if (!reading || reading.value === null) return 'Nothing could be measured here.';
  const { indicator, value } = reading;
  return `${upperFirst(indicator.says.replace('{value}', formatValue(value, indicator)))}; ${describeComparison(reading, value)}.`;
}

/** What the value is compared with. It depends on the value and not only on the strength, so the text never contradicts the number. */
function describeComparison({ indicator, original, strength }: IndicatorReading, value: number): string {
  const format = (number: number): string => formatValue(number, indicator);
  if (original !== null) return `the reference has ${format(original)}`;
  const {
    clean: [low = 0, high = 0],
    cuts: [first = 0],
    typical,
    side,
  } = indicator;
  const usual = typical.replace('{low}', format(low)).replace('{high}', format(high));
  if (strength >= 1) return usual;
  // Outside the clean range is not yet visible: below the first cut the comparison is with that cut.
  const isBeyond = side === 'above' ? value >= first : value <= first;
  return isBeyond
    ? `${usual}, but the other measurements do not confirm a flaw`
    : `a flaw is visible only ${side === 'above' ? 'from' : 'below'} about ${format(first)}`;
}

/** Fractions are written as percentages without trailing zeros: 0.08 → "8 %". */
const formatValue = (value: number, { digits, percent }: Indicator): string =>
  percent ? `${Number((value * 100).toFixed(digits))} %` : value.toFixed(digits);
