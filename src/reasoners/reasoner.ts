// The reasoner interface: all that the pipeline knows of `embedded/` (rules) and `vlm/` (vision-language models).
import type { FastifyBaseLogger } from 'fastify';
import type { Region } from '../../schemas/requests/assess.ts';
import type { Finding, ModelUsage, QualityScore } from '../../schemas/responses/assessment.ts';
import type { ExecutorOutput } from '../../schemas/pipeline/executor.ts';
import type { PlannerInput, PlannerOutput } from '../../schemas/pipeline/planner.ts';
import type { SummarizerOutput } from '../../schemas/pipeline/summarizer.ts';
import type { ToolRow } from '../../schemas/tool.ts';
import type { DistortionCategory, LevelProbabilities } from '../../schemas/vocabulary.ts';
import type { Deadline } from '../assessments/deadline.ts';
import type { PreparedImage } from '../images/prepare-image.ts';
import type { Gap, ReplanRequest } from '../pipeline/rules/gaps.ts';
import type { MeasuredRegion, ScopedRegion } from '../tools/evidence/source.ts';

/** One object for a whole run, so that what is derived from it can be memoized by its identity. */
export interface Question {
  query: string;
  /** Answer options given beside the query; may be empty. */
  choices: readonly string[];
}

/** What one run gives its reasoner. */
export interface ReasonerContext {
  question: Question;
  image: PreparedImage;
  reference: PreparedImage | null;
  log: FastifyBaseLogger;
  deadline: Deadline;
  /** Of the whole run: aborted when no client waits, when the deadline has passed, and when the run is over. */
  signal: AbortSignal;
}

/** A reasoner is created for one run; what runs share is created once. */
export interface ReasonerSource extends Pick<Reasoner, 'identity' | 'version'> {
  create: (context: ReasonerContext) => Reasoner;
}

export interface Replan extends ReplanRequest {
  /** Gaps and the model's reason as one text. */
  reason: string;
  previousPlan: PlannerOutput;
  history: readonly string[];
}

export interface PlanRequest {
  question: Question;
  input: PlannerInput;
  tools: readonly ToolRow[];
  /** Null in the first round. */
  replan: Replan | null;
  /** The executor's request under this plan, for a reasoner that starts examining before the plan is certain. */
  previewExamineRequest: (plan: PlannerOutput) => Promise<ExamineRequest>;
}

export interface PlanProposal {
  output: PlannerOutput;
  /** How sure the reasoner is that it understood the query, 0 to 1; null when unknown. */
  confidence: number | null;
}

export interface ExamineRequest {
  question: Question;
  plan: PlannerOutput;
  /** The regions under the names that the evidence uses. */
  regions: readonly ScopedRegion[];
  /** The distortions named in the query, by region name; null when they have to be detected. */
  named: Record<string, DistortionCategory[]> | null;
  /** Objects of the scope without a box. A reasoner that supports grounding finds them. */
  ungrounded: readonly string[];
  hasReference: boolean;
  /** Called only when needed. */
  measurements: () => Promise<Map<string, MeasuredRegion>>;
  tools: readonly ToolRow[];
  /** Of a region, in pixels: tools have a minimum. */
  shorterSide: (region: ScopedRegion) => number;
  /** Tools that contradicted the analysis in an earlier round. */
  contradictedTools: ReadonlySet<string>;
  /** What the last round's summarizer found missing; null in the first round. */
  replanReason: string | null;
}

/** The executor's first three subtasks. A subtask that was not planned, or failed, is null. */
export interface Examination extends Pick<ExecutorOutput, 'distortion_set' | 'distortion_analysis' | 'selected_tools'> {
  findings: Finding[];
  /** Boxes that the reasoner found for objects that had none. */
  grounded: Region[];
  failures: { subtask: string; error: unknown }[];
}

/** A reasoner's own probabilities of the five levels, and how it got them. */
export interface OwnProbabilities {
  probabilities: LevelProbabilities;
  method: QualityScore['method'];
}

export interface SummaryRequest {
  question: Question;
  plan: PlannerOutput;
  evidence: ExecutorOutput;
  /** The regions under the names that the evidence uses. */
  regions: readonly ScopedRegion[];
  findings: readonly Finding[];
  /** What the evidence lacks; each gap asks for a replan. */
  gaps: readonly Gap[];
  /** Objects of the scope without a box: their measurements are of the whole image. */
  ungrounded: readonly string[];
  /** Fuses the tool scores with the reasoner's own probabilities, or with none. */
  fuse: (own: OwnProbabilities | null) => QualityScore | null;
}

export interface Summary {
  output: Omit<SummarizerOutput, 'need_replan' | 'replan_reason'>;
  score: QualityScore | null;
  /** Null when the evidence suffices. */
  replan: ReplanRequest | null;
}

interface ReasonerReport {
  usage: ModelUsage;
  /** Why a role was not done as configured, or null. */
  degraded: string | null;
}

export interface Reasoner {
  /** Of the back end that answered: a fallback changes it during the run. */
  readonly identity: { kind: 'embedded' | 'vlm'; backend: string; model: string | null };
  version: string;
  /** Whether it looks at the image itself, so that it can answer without any measurement. */
  hasVision: boolean;
  /** Whether tools may start before the plan is known. */
  allowsPrefetch: boolean;
  /** Whether its answer to this question says where in the image: local maps are made only then. */
  needsLocalization: (question: Question) => boolean;
  /** A lower bound of the milliseconds before the first tool is needed: prefetched work that is done by then adds no latency. */
  minLatencyMs: number;
  plan: (request: PlanRequest, signal: AbortSignal) => Promise<PlanProposal>;
  examine: (request: ExamineRequest, signal: AbortSignal) => Promise<Examination>;
  summarize: (request: SummaryRequest, signal: AbortSignal) => Promise<Summary>;
  report: () => ReasonerReport;
}

const noCalls = () => ({ calls: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0 });

/** Of a reasoner that calls no model. */
export const NO_USAGE: ModelUsage = {
  ...noCalls(),
  cache_hits: 0,
  roles: { planner: noCalls(), executor: noCalls(), summarizer: noCalls() },
  failed_attempts: [],
};
