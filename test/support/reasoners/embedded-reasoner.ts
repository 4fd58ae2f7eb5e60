// The embedded reasoner with the shipped rules, and evidence to ask it about.
import type { ExecutorOutput } from '../../../schemas/pipeline/executor.ts';
import type { Finding } from '../../../schemas/responses/assessment.ts';
import { GLOBAL, type DistortionCategory, type Severity } from '../../../schemas/vocabulary.ts';
import { projectRoot } from '../../../src/config/config.ts';
import { fuse, weighLeadTools } from '../../../src/pipeline/rules/fusion.ts';
import { gradeRegion } from '../../../src/reasoners/embedded/findings/grading.ts';
import { loadSeverityRules } from '../../../src/reasoners/embedded/findings/severity-rules.ts';
import { createQueryParser } from '../../../src/reasoners/embedded/query/parse-query.ts';
import { createEmbeddedReasoner } from '../../../src/reasoners/embedded/reasoner.ts';
import type { SummaryRequest } from '../../../src/reasoners/reasoner.ts';
import { WHOLE_IMAGE } from '../../../src/tools/evidence/source.ts';
import { VOCABULARY } from './lexicon.ts';
import { registry } from '../run.ts';
import { GLOBAL_PLAN } from './scripted-reasoner.ts';

export const rules = loadSeverityRules(projectRoot());
export const reasoner = createEmbeddedReasoner({
  parser: createQueryParser({ lexicon: VOCABULARY.lexicon, tools: registry.rows }),
  rules,
});
export const signal = new AbortController().signal;

/** Every measurement in the middle of its clean range. */
export const CLEAN: Record<string, number> = Object.fromEntries(
  [...rules.categories.values()].flatMap(({ indicators }) =>
    indicators.map(({ measurement, clean: [low = 0, high = 0] }) => [measurement, (low + high) / 2]),
  ),
);

export const grade = (changes: Record<string, number | null>, reference: Record<string, number | null> | null = null) =>
  gradeRegion(GLOBAL, { values: { ...CLEAN, ...changes }, reference }, rules);

export type Severities = Partial<Record<DistortionCategory, Severity>>;

/** An analysis with these severities, and the score of one tool. */
export const buildEvidence = (severities: Severities, score: number | null): ExecutorOutput => ({
  distortion_set: null,
  selected_tools: null,
  tool_logs: [],
  distortion_analysis: {
    [GLOBAL]: Object.entries(severities).map(([type, severity]) => ({
      type: type as DistortionCategory,
      severity,
      explanation: `${type} was measured.`,
    })),
  },
  quality_scores: score === null ? null : { [GLOBAL]: { Noise: ['NIQE', score] } },
});

export const buildFinding = (changes: Pick<Finding, 'distortion' | 'severity'> & Partial<Finding>): Finding => ({
  object_name: GLOBAL,
  strength: null,
  confidence: 0.9,
  measurements: {},
  variants: {},
  place: null,
  ...changes,
});

export type AskOptions = Partial<SummaryRequest> & { choices?: string[] };

export async function ask(query: string, evidence: ExecutorOutput, { choices = [], ...changes }: AskOptions = {}) {
  const { output, score, replan } = await reasoner.summarize(
    {
      question: { query, choices },
      plan: GLOBAL_PLAN,
      evidence,
      regions: [WHOLE_IMAGE],
      findings: [],
      gaps: [],
      ungrounded: [],
      fuse: (own) =>
        fuse(
          weighLeadTools(evidence, () => undefined),
          own,
          1,
        ),
      ...changes,
    },
    signal,
  );
  return { ...output, score, replan };
}
