// Random evidence about the whole image, for properties that every answer must have.
import type { ExecutorOutput } from '../../../schemas/pipeline/executor.ts';
import { PLACES, type Finding, type QualityScore } from '../../../schemas/responses/assessment.ts';
import { GLOBAL, SEVERITIES, type DistortionCategory, type Severity } from '../../../schemas/vocabulary.ts';
import { fuse } from '../../../src/pipeline/rules/fusion.ts';
import { rules } from './embedded-reasoner.ts';
import type { Random } from '../random.ts';

export type StrongFinding = Finding & { strength: number };
export interface RandomEvidence {
  findings: StrongFinding[];
  evidence: ExecutorOutput;
  score: QualityScore | null;
}

/** Severities, variants, places, scores and intervals at random, for the given distortions. */
export function generateEvidence(
  random: Random,
  categories: readonly DistortionCategory[],
  detected: boolean,
): RandomEvidence {
  const findings = categories.map((distortion): StrongFinding => {
    const strength = random.between(0, 5);
    const severity = SEVERITIES[Math.min(4, Math.floor(strength))] as Severity;
    const own = [...new Set(rules.categories.get(distortion)?.indicators.flatMap(({ shows }) => shows ?? []))];
    const lead = own.length > 0 && random.chance(0.6) ? random.pick(own) : null;
    return {
      object_name: GLOBAL,
      distortion,
      severity,
      strength,
      confidence: 0.8,
      measurements: { edge_width_px: 3.14, missing: null },
      variants: Object.fromEntries(own.map((variant) => [variant, variant === lead ? severity : 'none'])),
      place: random.chance(0.5)
        ? { where: random.pick(PLACES), grid: Array.from({ length: 9 }, () => random.next()), map: 'edge_width_px' }
        : null,
    };
  });
  const value = random.chance(0.9) ? random.between(1, 5) : null;
  const fused = fuse(value === null ? null : { mean: value, spread: null }, null, 1);
  const spread = random.between(0, 1);
  const score = fused && {
    ...fused,
    interval: random.chance(0.6) ? [Math.max(1, fused.value - spread), Math.min(5, fused.value + spread)] : null,
  };
  const evidence: ExecutorOutput = {
    distortion_set: detected ? { [GLOBAL]: [...categories] } : null,
    selected_tools: null,
    distortion_analysis: {
      [GLOBAL]: findings.map(({ distortion: type, severity }) => ({
        type,
        severity,
        explanation: 'Edges are 3.14 pixels wide; in sharp photos 1.5 to 2.6.',
      })),
    },
    quality_scores: value === null ? null : { [GLOBAL]: { [categories[0] ?? 'Noise']: ['NIQE', value] } },
    tool_logs: value === null ? [] : [buildToolLog({ raw_score: 5.4321, normalized_score: value })],
  };
  return { findings, evidence, score };
}

export const buildToolLog = (
  changes: Partial<ExecutorOutput['tool_logs'][number]>,
): ExecutorOutput['tool_logs'][number] => ({
  tool_name: 'NIQE',
  object_name: GLOBAL,
  distortion: 'Noise',
  raw_score: 5.4321,
  normalized_score: 3,
  execution_time: 0,
  fallback: false,
  error: null,
  timestamp: '2026-01-01T00:00:00.000Z',
  ...changes,
});
