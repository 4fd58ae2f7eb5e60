// The models that GET /schemas publishes, by name.
import { Assessment } from './responses/assessment.ts';
import { Comparison } from './responses/comparison.ts';
import { DistortionAnalysis, ExecutorOutput, ToolExecutionLog } from './pipeline/executor.ts';
import { PlanControlFlags, PlannerInput, PlannerOutput } from './pipeline/planner.ts';
import { PlannerError } from './pipeline/planner-error.ts';
import { AgenticIQAState } from './pipeline/state.ts';
import { SummarizerOutput } from './pipeline/summarizer.ts';

export const PUBLISHED_MODELS = {
  PlannerOutput,
  PlanControlFlags,
  PlannerInput,
  PlannerError,
  DistortionAnalysis,
  ToolExecutionLog,
  ExecutorOutput,
  SummarizerOutput,
  AgenticIQAState,
  Assessment,
  Comparison,
} as const;
