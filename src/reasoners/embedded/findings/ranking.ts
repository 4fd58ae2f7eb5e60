// Orders the findings for an answer, worst first, and restricts them to the variants that the question names.
import type { Finding, Place } from '../../../../schemas/responses/assessment.ts';
import { SEVERITIES, type DistortionCategory, type Severity } from '../../../../schemas/vocabulary.ts';
import type { DistortionAnalysis } from '../../../../schemas/pipeline/executor.ts';
import type { SummaryRequest } from '../../reasoner.ts';

export interface RankedFinding extends DistortionAnalysis {
  object: string;
  /** Index of the severity: 0 none … 4 extreme. */
  rank: number;
  /** Continuous, where the detector gives one; orders findings of equal severity. */
  strength: number | null;
  /** The variant that the finding is about ("overexposure"); null means the distortion as a whole. */
  variant: string | null;
  variants: Readonly<Record<string, Severity>>;
  /** A stronger variant of the same distortion that the question did not name. */
  otherVariant: { variant: string; severity: Severity } | null;
  place: Place | null;
  measurements: Finding['measurements'];
}

/** The one order that every answer uses: by severity, then by strength; equal findings keep their order. */
export function rankFindings<T extends { severity: Severity; strength?: number | null }>(items: readonly T[]): T[] {
  const strengthOf = ({ severity, strength }: T): number => strength ?? severityRank(severity);
  return items.toSorted((a, b) => severityRank(b.severity) - severityRank(a.severity) || strengthOf(b) - strengthOf(a));
}

/** Leaves out findings with confidence 0: nothing was measured there, which is not the same as severity "none". */
export function rankEvidence({ evidence, findings }: Pick<SummaryRequest, 'evidence' | 'findings'>): RankedFinding[] {
  const indexOf = (object: string, type: DistortionCategory) =>
    findings.findIndex((finding) => finding.object_name === object && finding.distortion === type);
  // Analyses without a finding come last.
  const order = ({ object, type }: RankedFinding) =>
    (indexOf(object, type) + findings.length + 1) % (findings.length + 1);
  const ranked = Object.entries(evidence.distortion_analysis ?? {})
    .flatMap(([object, analyses]) =>
      analyses.map((analysis): RankedFinding => {
        const finding = findings[indexOf(object, analysis.type)];
        const variants = finding?.variants ?? {};
        return {
          ...analysis,
          object,
          rank: severityRank(analysis.severity),
          strength: finding?.strength ?? null,
          variant: findLeadingVariant(variants, analysis.severity),
          variants,
          otherVariant: null,
          place: finding?.place ?? null,
          measurements: finding?.measurements ?? {},
        };
      }),
    )
    .filter(({ object, type }) => findings[indexOf(object, type)]?.confidence !== 0)
    .toSorted((a, b) => order(a) - order(b));
  return rankFindings(ranked);
}

/** "Is it too dark?" is answered by underexposure alone; a variant that was not measured, by the distortion as a whole. */
export function restrictToVariants(
  findings: readonly RankedFinding[],
  named: ReadonlyMap<DistortionCategory, string>,
): RankedFinding[] {
  return rankFindings(
    findings.map((item) => {
      const variant = named.get(item.type);
      const severity = variant === undefined ? undefined : item.variants[variant];
      if (variant === undefined || severity === undefined) return item;
      const otherVariant =
        item.variant !== variant && item.variant !== null && item.rank > severityRank(severity)
          ? { variant: item.variant, severity: item.severity }
          : null;
      const isWhole = severity === item.severity;
      return {
        ...item,
        variant,
        severity,
        rank: severityRank(severity),
        otherVariant,
        strength: isWhole ? item.strength : null,
        place: isWhole ? item.place : null,
      };
    }),
  );
}

export const severityRank = (severity: Severity): number => SEVERITIES.indexOf(severity);

/** The one variant as severe as the distortion itself; null when there is none, or several. */
function findLeadingVariant(variants: Readonly<Record<string, Severity>>, severity: Severity): string | null {
  const leading = Object.keys(variants).filter((name) => severity !== 'none' && variants[name] === severity);
  return leading.length === 1 ? (leading[0] ?? null) : null;
}
