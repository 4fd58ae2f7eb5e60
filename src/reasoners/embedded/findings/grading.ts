// From measurements to findings: how strong each distortion is, how sure that is, and which sentence quotes the evidence.
import type { Finding } from '../../../../schemas/responses/assessment.ts';
import { SEVERITIES, type DistortionCategory, type Severity } from '../../../../schemas/vocabulary.ts';
import type { MeasuredRegion } from '../../../tools/evidence/source.ts';
import type { Indicator, SeverityRules } from './severity-rules.ts';
import { upperFirst } from '../answers/text/names.ts';

export interface Grade extends Finding {
  /** 0 none … 4 extreme and beyond, continuous: comparable between distortions. */
  strength: number;
  explanation: string;
}

type Values = Record<string, number | null>;

/** One grade per category, strongest first. */
export function gradeRegion(object: string, measured: MeasuredRegion, rules: SeverityRules): Grade[] {
  return [...rules.categories]
    .map(([category, { name, indicators }]) => {
      const readings = indicators
        .map((indicator) => read(indicator, measured))
        .toSorted((a, b) => b.strength - a.strength);
      return gradeOf(
        object,
        category,
        name,
        weigh(readings, measured.values[seenName(category)] ?? null),
        measured.values,
      );
    })
    .toSorted((a, b) => b.strength - a.strength);
}

/** The sidecar's measurement of what its fitted machine sees of a category. */
const seenName = (category: DistortionCategory): string => `seen_${category.toLowerCase().replaceAll(' ', '_')}`;

interface Weighed {
  /** Strongest first, on the scale of the whole. */
  readings: readonly Reading[];
  strength: number;
  /** What the fitted machine sees; null where it was not there. */
  seen: number | null;
}

/**
 * The fitted machine weighs everything at once and decides how strong a distortion is; single measurements explain it, tell its sides
 * apart, and decide alone where the machine is not there. What the file itself says (its JPEG quality) is certain and can only add.
 */
function weigh(readings: readonly Reading[], seen: number | null): Weighed {
  const lead = readings[0]?.strength ?? 0;
  if (seen === null) return { readings, strength: lead, seen };
  const certain = Math.max(
    0,
    ...readings.filter(({ indicator }) => !indicator.relative).map((reading) => reading.strength),
  );
  const strength = Math.max(seen, certain);
  const scale = lead > 0 ? strength / lead : 0;
  return { readings: readings.map((reading) => ({ ...reading, strength: reading.strength * scale })), strength, seen };
}

interface Reading {
  indicator: Indicator;
  value: number | null;
  /** What the reference shows of it, where only the change counts. */
  original: number | null;
  strength: number;
}

function read(indicator: Indicator, { values, reference }: MeasuredRegion): Reading {
  const value = values[indicator.measurement] ?? null;
  const original = indicator.relative ? (reference?.[indicator.measurement] ?? null) : null;
  if (value === null || isExplained(indicator, values, reference !== null))
    return { indicator, value, original, strength: 0 };
  return { indicator, value, original, strength: strengthOf(indicator, relativeTo(original, indicator, value)) };
}

/** With a reference, what it already shows is the picture's own: only the change counts, seen from a typical good photo. */
function relativeTo(original: number | null, { clean, side }: Indicator, value: number): number {
  if (original === null) return value;
  const [low = 0, high = 0] = clean;
  return (side === 'above' ? high : low) + (value - original);
}

/** 0 at the edge of the clean range, 1…4 at the cuts, straight lines between. */
function strengthOf({ side, cuts, clean }: Indicator, value: number): number {
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

/** Whether the scene explains the value. A reference shows the scene itself, so that most such excuses end there. */
function isExplained({ unless }: Indicator, values: Values, hasReference: boolean): boolean {
  const other = unless ? (values[unless.measurement] ?? null) : null;
  if (!unless || other === null || (hasReference && !unless.always)) return false;
  return (unless.below !== null && other < unless.below) || (unless.above !== null && other > unless.above);
}

function gradeOf(
  object: string,
  category: DistortionCategory,
  name: string,
  { readings, strength, seen }: Weighed,
  values: Values,
): Grade {
  const lead = readings[0];
  return {
    object_name: object,
    distortion: category,
    severity: severityOf(strength),
    strength: Math.round(Math.min(5, strength) * 100) / 100,
    confidence: confidenceOf(strength, seen ?? lead?.value ?? null),
    measurements: {
      ...Object.fromEntries(
        readings.map(({ indicator: { measurement } }) => [measurement, values[measurement] ?? null]),
      ),
      ...(seen === null ? {} : { [seenName(category)]: seen }),
    },
    // Where no measurement shows what the machine sees, the sides cannot be told apart.
    sides: strength >= 1 && (lead?.strength ?? 0) === 0 ? {} : sidesOf(readings),
    place: null,
    explanation: lead && lead.strength > 0 ? explain(lead) : explainSeen(lead, name, seen),
  };
}

/** The strongest reading of each side that is told apart; a side that could not be measured is not listed. */
function sidesOf(readings: readonly Reading[]): Record<string, Severity> {
  // Strongest first: reversed, so that it is what stays.
  return Object.fromEntries(
    readings
      .toReversed()
      .flatMap(({ indicator: { shows }, value, strength }) =>
        shows === null || value === null ? [] : [[shows, severityOf(strength)]],
      ),
  );
}

export function severityOf(strength: number): Severity {
  return SEVERITIES[Math.min(SEVERITIES.length - 1, Math.floor(strength))] ?? 'none';
}

/** Sure in the middle of a severity's range, half as sure at its borders; nothing measured, nothing known. */
function confidenceOf(strength: number, value: number | null): number {
  if (value === null) return 0;
  if (strength === 0 || strength >= 4.5) return 0.9;
  const toBorder = Math.abs(strength - Math.round(strength));
  return Math.round((0.5 + 0.8 * Math.min(toBorder, 0.5)) * 100) / 100;
}

/** No measurement by itself shows it: then the likeness to graded pictures is the evidence. */
function explainSeen(lead: Reading | undefined, name: string, seen: number | null): string {
  if (seen === null || seen < 1) return explain(lead);
  return `It looks like photos with ${name} of strength ${seen.toFixed(1)} of 5, though no single measurement shows it.`;
}

function explain(reading: Reading | undefined): string {
  if (!reading || reading.value === null) return 'Nothing could be measured here.';
  const { indicator, value } = reading;
  return `${upperFirst(indicator.says.replace('{value}', value.toFixed(indicator.digits)))}; ${compare(reading, value)}.`;
}

/** What the value is held against, so that the words agree with the number beside them whatever the strength came from. */
function compare(
  { indicator: { typical, clean, cuts, digits, side }, original, strength }: Reading,
  value: number,
): string {
  const quote = (number: number): string => number.toFixed(digits);
  if (original !== null) return `the reference has ${quote(original)}`;
  const [low = 0, high = 0] = clean;
  const [first = 0] = cuts;
  const usual = typical.replace('{low}', quote(low)).replace('{high}', quote(high));
  if (strength >= 1) return usual;
  // Outside the usual range is not yet visible: below the first cut the comparison is with that.
  const isBeyond = side === 'above' ? value >= first : value <= first;
  return isBeyond
    ? `${usual}, but the rest of the picture does not bear a flaw out`
    : `a flaw shows only ${side === 'above' ? 'from' : 'below'} about ${quote(first)}`;
}
