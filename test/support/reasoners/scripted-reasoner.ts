// A reasoner that plays a script: each call takes the next step, and steps left over fail the test.
import type { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import type { SummarizerOutput } from '../../../schemas/pipeline/summarizer.ts';
import {
  NO_USAGE,
  type Examination,
  type ExamineRequest,
  type PlanRequest,
  type Reasoner,
  type SummaryRequest,
} from '../../../src/reasoners/reasoner.ts';

type Step<Request, Result> = Result | Error | ((request: Request, signal: AbortSignal) => Result | Promise<Result>);

export interface Script {
  plans?: Step<PlanRequest, PlannerOutput>[];
  examinations?: Step<ExamineRequest, Partial<Examination>>[];
  summaries?: Step<SummaryRequest, Partial<SummarizerOutput>>[];
  hasVision?: boolean;
}

export interface ScriptedReasoner extends Reasoner {
  requests: { plan: PlanRequest[]; examine: ExamineRequest[]; summarize: SummaryRequest[] };
  unusedSteps: () => number;
}

export const GLOBAL_PLAN: PlannerOutput = {
  query_type: 'IQA',
  query_scope: 'Global',
  distortion_source: 'Inferred',
  distortions: null,
  reference_mode: 'No-Reference',
  required_tool: null,
  plan: { distortion_detection: true, distortion_analysis: true, tool_selection: true, tool_execution: true },
};

export const EXAMINED: Examination = {
  distortion_set: { Global: ['Noise'] },
  distortion_analysis: { Global: [{ type: 'Noise', severity: 'slight', explanation: 'Some grain.' }] },
  selected_tools: { Global: { Noise: 'NIQE' } },
  findings: [],
  grounded: [],
  failures: [],
};

export function scriptReasoner({
  plans = [],
  examinations = [],
  summaries = [],
  hasVision = false,
}: Script): ScriptedReasoner {
  const left = { plans: [...plans], examinations: [...examinations], summaries: [...summaries] };
  const requests: ScriptedReasoner['requests'] = { plan: [], examine: [], summarize: [] };
  return {
    identity: { kind: 'vlm', backend: 'scripted', model: 'script' },
    version: 'test',
    hasVision: hasVision,
    allowsPrefetch: true,
    needsLocalization: () => false,
    minLatencyMs: 0,
    report: () => ({ usage: NO_USAGE, degraded: null }),
    requests,
    unusedSteps: () => left.plans.length + left.examinations.length + left.summaries.length,
    async plan(request, signal) {
      requests.plan.push(request);
      return { output: await play(left.plans, request, signal), confidence: 1 };
    },
    async examine(request, signal) {
      requests.examine.push(request);
      return { ...EXAMINED, ...(await play(left.examinations, request, signal)) };
    },
    async summarize(request, signal) {
      requests.summarize.push(request);
      const { need_replan = false, replan_reason = null, ...output } = await play(left.summaries, request, signal);
      return {
        output: { final_answer: 'Good', quality_reasoning: 'The evidence says so.', used_evidence: null, ...output },
        score: request.fuse(null),
        replan: need_replan ? { gaps: [], modelReason: replan_reason } : null,
      };
    },
  };
}

async function play<Request, Result>(
  steps: Step<Request, Result>[],
  request: Request,
  signal: AbortSignal,
): Promise<Result> {
  if (steps.length === 0) throw new Error('The script has no step left');
  const step = steps.shift() as Step<Request, Result>;
  if (step instanceof Error) throw step;
  return typeof step === 'function'
    ? (step as (request: Request, signal: AbortSignal) => Promise<Result>)(request, signal)
    : step;
}
