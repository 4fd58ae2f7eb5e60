// The embedded reasoner: plans, examines and summarizes by rules, without a model or the network.
import { derivePlan } from '../../pipeline/rules/plan.ts';
import { NO_USAGE, type PlanProposal, type PlanRequest, type Reasoner } from '../reasoner.ts';
import { buildSummary } from './answers/answer.ts';
import { needsLocalization } from './answers/question-form.ts';
import { examine } from './findings/examine.ts';
import type { SeverityRules } from './findings/severity-rules.ts';
import type { QueryParser } from './query/parse-query.ts';

interface EmbeddedOptions {
  parser: QueryParser;
  rules: SeverityRules;
}

const RULES_VERSION = '1.4.0';

export function createEmbeddedReasoner({ parser, rules }: EmbeddedOptions): Reasoner {
  return {
    identity: { kind: 'embedded', backend: 'embedded', model: null },
    version: `${RULES_VERSION}+severity.${rules.version}`,
    hasVision: false,
    allowsPrefetch: true,
    needsLocalization: (question) => needsLocalization(parser.parseQuestion(question), question.query),
    minLatencyMs: 0,
    plan: (request) => Promise.resolve(plan(request, parser)),
    examine: (request) => examine(request, rules),
    summarize: (request) => Promise.resolve(buildSummary(request, parser, rules)),
    report: () => ({ usage: NO_USAGE, degraded: null }),
  };
}

function plan({ question, input, replan }: PlanRequest, parser: QueryParser): PlanProposal {
  const parsed = parser.parseQuestion(question);
  return {
    output: derivePlan(parsed, { hasReference: input.reference_path !== null, replan }),
    confidence: parsed.confidence,
  };
}
