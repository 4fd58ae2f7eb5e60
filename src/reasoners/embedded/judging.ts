// What the evidence says of each distortion, ready for an answer: worst first, and narrowed to the side that was asked about.
import { SEVERITIES, type DistortionCategory, type Severity } from '../../../schemas/vocabulary.ts';
import type { DistortionAnalysis } from '../../../schemas/executor.ts';
import type { SummaryRequest } from '../reasoner.ts';

/** An analysis with the object it is about and its place among the severities. */
export interface Judged extends DistortionAnalysis {
  object: string;
  rank: number;
  /** The side of the distortion that it speaks of ("overexposure"); null: of the distortion as a whole. */
  side: string | null;
  /** How severe each side is, as far as the measurements tell them apart. */
  sides: Readonly<Record<string, Severity>>;
  /** Not what was asked about, but there: the other side of the same distortion. */
  instead: { side: string; severity: Severity } | null;
}

/** Everything that could be judged; equals keep the order of the reasoner's findings. Nothing measured is no "none". */
export function judge({ evidence, findings }: Pick<SummaryRequest, 'evidence' | 'findings'>): Judged[] {
  const indexOf = (object: string, type: DistortionCategory) => findings.findIndex((finding) => finding.object_name === object && finding.distortion === type);
  const order = (object: string, type: DistortionCategory) => (indexOf(object, type) + findings.length + 1) % (findings.length + 1);
  return Object.entries(evidence.distortion_analysis ?? {})
    .flatMap(([object, analyses]) => analyses.map((analysis): Judged => {
      const sides = findings[indexOf(object, analysis.type)]?.sides ?? {};
      return { ...analysis, object, rank: rankOf(analysis.severity), side: leadingSide(sides, analysis.severity), sides, instead: null };
    }))
    .filter(({ object, type }) => findings[indexOf(object, type)]?.confidence !== 0)
    .toSorted((a, b) => b.rank - a.rank || order(a.object, a.type) - order(b.object, b.type));
}

/** "Is it too dark?" is answered by the dark side alone; where sides cannot be told apart, by the distortion as a whole. */
export function narrow(judged: readonly Judged[], asked: ReadonlyMap<DistortionCategory, string>): Judged[] {
  return judged.map((item) => {
    const side = asked.get(item.type);
    const severity = side === undefined ? undefined : item.sides[side];
    if (side === undefined || severity === undefined) return item;
    const other = item.side !== side && item.side !== null && item.rank > rankOf(severity) ? { side: item.side, severity: item.severity } : null;
    return { ...item, side, severity, rank: rankOf(severity), instead: other };
  }).toSorted((a, b) => b.rank - a.rank);
}

export const rankOf = (severity: Severity): number => SEVERITIES.indexOf(severity);

/** The one side that makes the distortion as severe as it is; null when none shows, or several do. */
function leadingSide(sides: Readonly<Record<string, Severity>>, severity: Severity): string | null {
  const leading = Object.keys(sides).filter((side) => severity !== 'none' && sides[side] === severity);
  return leading.length === 1 ? leading[0] ?? null : null;
}
