// The seam: who thinks. The pipeline knows only this interface; behind it stand the embedded reasoner and vision-language models.
import type { Logger } from 'pino';
import type { Region } from '../../schemas/requests/assess.ts';
import type { Finding, ModelUsage, QualityScore } from '../../schemas/responses/assessment.ts';
import type { ExecutorOutput } from '../../schemas/pipeline/executor.ts';
import type { PlannerInput, PlannerOutput } from '../../schemas/pipeline/planner.ts';
import type { SummarizerOutput } from '../../schemas/pipeline/summarizer.ts';
import type { ToolRow } from '../../schemas/tool.ts';
import type { DistortionCategory, Level } from '../../schemas/vocabulary.ts';
import type { Deadline } from '../assessments/deadline.ts';
import type { PreparedImage } from '../images/prepare-image.ts';
import type { MeasuredRegion, ScopedRegion } from '../tools/evidence/source.ts';

/** What one assessment gives its reasoner. */
export interface Occasion {
  image: PreparedImage;
  reference: PreparedImage | null;
  log: Logger;
  deadline: Deadline;
  /** Of the whole run: aborted when nobody waits any more or the deadline has passed. */
  signal: AbortSignal;
}

/** Reasoners are made for one assessment; what they share was made once. */
export interface ReasonerSource extends Pick<Reasoner, 'identity' | 'version'> {
  create: (occasion: Occasion) => Reasoner;
}

export interface Replan {
  reason: string;
  previousPlan: PlannerOutput;
  history: readonly string[];
}

export interface PlanRequest {
  input: PlannerInput;
  choices: readonly string[];
  tools: readonly ToolRow[];
  /** Set when the summarizer sent us back. */
  replan: Replan | null;
  /** What the executor would ask if this were the plan: for a reasoner that begins ahead. */
  foretell: (plan: PlannerOutput) => Promise<ExamineRequest>;
}

export interface PlanProposal {
  output: PlannerOutput;
  /** How sure the reasoner is that it understood the query, 0 to 1; null when it cannot say. */
  confidence: number | null;
}

export interface ExamineRequest {
  query: string;
  plan: PlannerOutput;
  /** The regions under the names that the evidence uses. */
  regions: readonly ScopedRegion[];
  /** The distortions named in the query, by those names; null when they have to be found. */
  named: Record<string, DistortionCategory[]> | null;
  /** Objects of the scope without a box. A reasoner that grounds finds them. */
  ungrounded: readonly string[];
  hasReference: boolean;
  /** Asked for only when needed. */
  measurements: () => Promise<Map<string, MeasuredRegion>>;
  tools: readonly ToolRow[];
  /** Of a region, in pixels: what is too small for a tool is not given to it. */
  shorterSide: (region: ScopedRegion) => number;
  /** Tools that an earlier round found at odds with the analysis. */
  doubted: ReadonlySet<string>;
  /** What the last round's summarizer found missing; none on the first one. */
  missing?: string | null;
}

/** The first three subtasks of the executor. A subtask that was not asked for, or failed, is null. */
export interface Examination extends Pick<ExecutorOutput, 'distortion_set' | 'distortion_analysis' | 'selected_tools'> {
  findings: Finding[];
  /** Boxes that the reasoner found for objects that had none. */
  grounded: Region[];
  failures: { subtask: string; error: unknown }[];
}

export type LevelProbabilities = Record<Level, number>;

export interface SummaryRequest {
  query: string;
  choices: readonly string[];
  plan: PlannerOutput;
  evidence: ExecutorOutput;
  /** The regions under the names that the evidence uses. */
  regions: readonly ScopedRegion[];
  findings: readonly Finding[];
  /** What the evidence lacks, as reasons for a replan; empty when it suffices. */
  gaps: readonly string[];
  /** Objects of the scope that no box was given for: what was measured is about the whole picture. */
  ungrounded: readonly string[];
  /** Fuses the tools with the reasoner's own probabilities of the five levels, or with none. */
  fuse: (own: { probabilities: LevelProbabilities; method: QualityScore['method'] } | null) => QualityScore | null;
}

export interface Summary {
  output: SummarizerOutput;
  score: QualityScore | null;
}

/** What a reasoner tells about itself when the assessment is done. */
export interface ReasonerReport {
  usage: ModelUsage;
  /** Why it did not answer as it was meant to, or null. */
  degraded: string | null;
}

export interface Reasoner {
  /** Who speaks: when a fallback took over, that one. */
  readonly identity: { kind: 'embedded' | 'vlm'; backend: string; model: string | null };
  version: string;
  /** Whether it looks at the picture itself, so that it can answer without any measurement. */
  seesPixels: boolean;
  /** Whether the tools may begin before it has made its plan. */
  speculates: boolean;
  /** Whether its answer to this question says where in the picture: only then are maps made. */
  locates: (query: string, choices: readonly string[]) => boolean;
  /** How long it surely takes before the first tool is needed, in milliseconds: measuring that is done by then costs nobody any time. */
  thinkingMs: number;
  plan: (request: PlanRequest, signal: AbortSignal) => Promise<PlanProposal>;
  examine: (request: ExamineRequest, signal: AbortSignal) => Promise<Examination>;
  summarize: (request: SummaryRequest, signal: AbortSignal) => Promise<Summary>;
  report: () => ReasonerReport;
}

/** Of a reasoner that asks no model. */
export const NO_USAGE: ModelUsage = usageOfNothing();

function usageOfNothing(): ModelUsage {
  const nothing = { calls: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0 };
  return {
    ...nothing,
    cache_hits: 0,
    roles: { planner: { ...nothing }, executor: { ...nothing }, summarizer: { ...nothing } },
    failed_attempts: [],
  };
}
