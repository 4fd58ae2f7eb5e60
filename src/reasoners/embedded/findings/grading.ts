// Grades the measurements of a region: one finding per distortion category, with an explanation that quotes the evidence.
import type { Finding } from '../../../../schemas/responses/assessment.ts';
import { SEVERITIES, type DistortionCategory, type Severity } from '../../../../schemas/vocabulary.ts';
import type { MeasuredRegion } from '../../../tools/evidence/source.ts';
import { explainDetection, explainReading } from './explanations.ts';
import { readIndicator, type IndicatorReading } from './indicator-readings.ts';
import type { SeverityRules } from './severity-rules.ts';

export interface Grade extends Finding {
  /** 0 none … 4 extreme and beyond, continuous: comparable between distortions. */
  strength: number;
  explanation: string;
}

/** One grade per category, strongest first. */
export function gradeRegion(object: string, measured: MeasuredRegion, rules: SeverityRules): Grade[] {
  return [...rules.categories]
    .map(([category, { indicators }]) => {
      const readings = indicators
        .map((indicator) => readIndicator(indicator, measured))
        .toSorted((a, b) => b.strength - a.strength);
      return buildGrade(
        object,
        category,
        combineReadings(readings, measured.values[detectorName(category)] ?? null),
        measured.values,
      );
    })
    .toSorted((a, b) => b.strength - a.strength);
}

/** The sidecar's measurement with the strength that its fitted detector predicts for a category. */
const detectorName = (category: DistortionCategory): string =>
  `detected_${category.toLowerCase().replaceAll(' ', '_')}`;

interface CategoryEvidence {
  /** Strongest first, scaled so that the strongest equals `strength`. */
  readings: readonly IndicatorReading[];
  strength: number;
  /** Null where the detector did not run. */
  detected: number | null;
}

/**
 * The fitted detector decides how strong a distortion is. Single measurements explain it and tell its variants apart; without the
 * detector they decide alone. What the file itself states (its JPEG quality) is certain and can only raise the strength.
 */
function combineReadings(readings: readonly IndicatorReading[], detected: number | null): CategoryEvidence {
  const lead = readings[0]?.strength ?? 0;
  if (detected === null) return { readings, strength: lead, detected };
  const certain = Math.max(
    0,
    ...readings.filter(({ indicator }) => !indicator.relative).map((reading) => reading.strength),
  );
  const strength = Math.max(detected, certain);
  const scale = lead > 0 ? strength / lead : 0;
  return {
    readings: readings.map((reading) => ({ ...reading, strength: reading.strength * scale })),
    strength,
    detected,
  };
}

function buildGrade(
  object: string,
  category: DistortionCategory,
  { readings, strength, detected }: CategoryEvidence,
  values: MeasuredRegion['values'],
): Grade {
  const lead = readings[0];
  return {
    object_name: object,
    distortion: category,
    severity: toSeverity(strength),
    strength: Math.round(Math.min(5, strength) * 100) / 100,
    confidence: computeConfidence(strength, detected ?? lead?.value ?? null),
    measurements: {
      ...Object.fromEntries(
        readings.map(({ indicator: { measurement } }) => [measurement, values[measurement] ?? null]),
      ),
      ...(detected === null ? {} : { [detectorName(category)]: detected }),
    },
    // Where no measurement confirms the detector, the variants cannot be told apart.
    variants: strength >= 1 && (lead?.strength ?? 0) === 0 ? {} : gradeVariants(readings),
    place: null,
    explanation: lead && lead.strength > 0 ? explainReading(lead) : explainDetection(lead, detected),
  };
}

/** The severity of each variant by its strongest reading; a variant that was not measured is not listed. */
function gradeVariants(readings: readonly IndicatorReading[]): Record<string, Severity> {
  // Readings come strongest first; reversed, the strongest one of a variant is written last.
  return Object.fromEntries(
    readings
      .toReversed()
      .flatMap(({ indicator: { shows }, value, strength }) =>
        shows === null || value === null ? [] : [[shows, toSeverity(strength)]],
      ),
  );
}

export function toSeverity(strength: number): Severity {
  return SEVERITIES[Math.min(SEVERITIES.length - 1, Math.floor(strength))] ?? 'none';
}

/** 0.9 in the middle of a severity's range, 0.5 at its borders, 0 where nothing was measured. */
function computeConfidence(strength: number, value: number | null): number {
  if (value === null) return 0;
  if (strength === 0 || strength >= 4.5) return 0.9;
  const toBorder = Math.abs(strength - Math.round(strength));
  return Math.round((0.5 + 0.8 * Math.min(toBorder, 0.5)) * 100) / 100;
}
