// What the evidence says of each distortion, ready for an answer: worst first, and narrowed to the side that was asked about.
import type { Finding, Place } from '../../../../schemas/responses/assessment.ts';
import { SEVERITIES, type DistortionCategory, type Severity } from '../../../../schemas/vocabulary.ts';
import type { DistortionAnalysis } from '../../../../schemas/pipeline/executor.ts';
import type { SummaryRequest } from '../../reasoner.ts';

/** An analysis with the object it is about and its place among the severities. */
export interface Judged extends DistortionAnalysis {
  object: string;
  rank: number;
  /** Continuous, where the detector gives one; it orders what is equally severe. */
  strength: number | null;
  /** The side of the distortion that it speaks of ("overexposure"); null: of the distortion as a whole. */
  side: string | null;
  /** How severe each side is, as far as the measurements tell them apart. */
  sides: Readonly<Record<string, Severity>>;
  /** Not what was asked about, but there: the other side of the same distortion. */
  instead: { side: string; severity: Severity } | null;
  place: Place | null;
  measurements: Finding['measurements'];
}

/** The one order of distortions that every answer follows: by severity, then by strength where there is one; equals stay as they are. */
export function rankFindings<T extends { severity: Severity; strength?: number | null }>(items: readonly T[]): T[] {
  const strengthOf = ({ severity, strength }: T): number => strength ?? rankOf(severity);
  return items.toSorted((a, b) => rankOf(b.severity) - rankOf(a.severity) || strengthOf(b) - strengthOf(a));
}

/** Everything that could be judged; equals keep the order of the reasoner's findings. Nothing measured is no "none". */
export function judge({ evidence, findings }: Pick<SummaryRequest, 'evidence' | 'findings'>): Judged[] {
  const indexOf = (object: string, type: DistortionCategory) =>
    findings.findIndex((finding) => finding.object_name === object && finding.distortion === type);
  const order = ({ object, type }: Judged) => (indexOf(object, type) + findings.length + 1) % (findings.length + 1);
  const judged = Object.entries(evidence.distortion_analysis ?? {})
    .flatMap(([object, analyses]) =>
      analyses.map((analysis): Judged => {
        const finding = findings[indexOf(object, analysis.type)];
        const sides = finding?.sides ?? {};
        return {
          ...analysis,
          object,
          rank: rankOf(analysis.severity),
          strength: finding?.strength ?? null,
          side: leadingSide(sides, analysis.severity),
          sides,
          instead: null,
          place: finding?.place ?? null,
          measurements: finding?.measurements ?? {},
        };
      }),
    )
    .filter(({ object, type }) => findings[indexOf(object, type)]?.confidence !== 0)
    .toSorted((a, b) => order(a) - order(b));
  return rankFindings(judged);
}

/** "Is it too dark?" is answered by the dark side alone; where sides cannot be told apart, by the distortion as a whole. */
export function narrow(judged: readonly Judged[], asked: ReadonlyMap<DistortionCategory, string>): Judged[] {
  return rankFindings(
    judged.map((item) => {
      const side = asked.get(item.type);
      const severity = side === undefined ? undefined : item.sides[side];
      if (side === undefined || severity === undefined) return item;
      const other =
        item.side !== side && item.side !== null && item.rank > rankOf(severity)
          ? { side: item.side, severity: item.severity }
          : null;
      const isWhole = severity === item.severity;
      return {
        ...item,
        side,
        severity,
        rank: rankOf(severity),
        instead: other,
        strength: isWhole ? item.strength : null,
        place: isWhole ? item.place : null,
      };
    }),
  );
}

export const rankOf = (severity: Severity): number => SEVERITIES.indexOf(severity);

/** The one side that makes the distortion as severe as it is; null when none shows, or several do. */
function leadingSide(sides: Readonly<Record<string, Severity>>, severity: Severity): string | null {
  const leading = Object.keys(sides).filter((side) => severity !== 'none' && sides[side] === severity);
  return leading.length === 1 ? (leading[0] ?? null) : null;
}
