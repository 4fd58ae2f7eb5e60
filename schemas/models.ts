// The published models by name: GET /schemas lists these.
import { Assessment } from './assessment.ts';
import { Comparison } from './comparison.ts';
import { DistortionAnalysis, ExecutorOutput, ToolExecutionLog } from './executor.ts';
import { PlanControlFlags, PlannerInput, PlannerOutput } from './planner.ts';
import { PlannerError } from './planner-error.ts';
import { AgenticIQAState } from './state.ts';
import { SummarizerOutput } from './summarizer.ts';

export const PUBLISHED_MODELS = {
  PlannerOutput, PlanControlFlags, PlannerInput, PlannerError, DistortionAnalysis, ToolExecutionLog, ExecutorOutput, SummarizerOutput,
  AgenticIQAState, Assessment, Comparison,
} as const;
