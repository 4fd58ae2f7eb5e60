// Node 2: gathers the evidence that the plan asks for. A failed subtask becomes null and a log entry; only a model without a fallback ends the run.
import { ExecutorOutput, type ToolExecutionLog } from '../../../schemas/pipeline/executor.ts';
import type { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import type { ToolDiagnostic } from '../../../schemas/responses/assessment.ts';
import { parse } from '../../../schemas/validation/model.ts';
import { GLOBAL } from '../../../schemas/vocabulary.ts';
import { ModelFailedError, publicMessage } from '../../errors.ts';
import { raceAbort } from '../../lib/abort.ts';
import type { Examination, ExamineRequest } from '../../reasoners/reasoner.ts';
import type { ToolOutcome } from '../../tools/evidence/source.ts';
import { buildExamineRequest, isFatal } from '../rules/examine-request.ts';
import { NO_TOOLS } from '../rules/gaps.ts';
import { localizeFindings } from '../rules/localization.ts';
import { describeScope, describeUnmeasuredBoxes } from '../rules/notes.ts';
import { resolveScope, type Scope } from '../rules/scope.ts';
import type { RunContext } from '../run-context.ts';
import type { PipelineState, PipelineUpdate } from '../state.ts';
import { executeTools, type Assignments, type ToolExecution } from './tool-execution.ts';

const NO_EVIDENCE: ExecutorOutput = {
  distortion_set: null,
  distortion_analysis: null,
  selected_tools: null,
  quality_scores: null,
  tool_logs: [],
};
const NO_EXECUTION: ToolExecution = { scores: null, logs: [], outcomes: [] };

export async function execute(state: PipelineState, run: RunContext, signal: AbortSignal): Promise<PipelineUpdate> {
  const { plan, scope } = state;
  if (!plan || !scope) throw new TypeError('Expected a plan before the executor runs');
  if (plan.query_type === 'Other') {
    await verifyImages(run);
    return { executor_evidence: NO_EVIDENCE, findings: [], tool_diagnostics: [], notes: [] };
  }
  try {
    return await raceAbort(gather(state, plan, scope, run, signal), signal);
  } catch (error) {
    if (run.signal.aborted || isFatal(error, run)) throw error;
    run.log.warn({ err: error }, 'Executor failed');
    // Thrown only where no fallback is configured. On a replan the run goes on: the summarizer has an earlier result.
    if (error instanceof ModelFailedError && !state.summarizer_result) return describeFailure(error);
    const evidence = { ...NO_EVIDENCE, tool_logs: [createFailureLog('executor', error)] };
    return { executor_evidence: evidence, findings: [], tool_diagnostics: [], notes: describeScope(scope) };
  }
}

async function gather(
  state: PipelineState,
  plan: PlannerOutput,
  planned: Scope,
  run: RunContext,
  signal: AbortSignal,
): Promise<PipelineUpdate> {
  const { request, toolsError } = await buildExamineRequest(state, plan, planned, run, signal);
  const examining = run.reasoner.examine(request, signal);
  const verifying = verifyImages(run);
  verifying.catch(() => undefined);
  const examination = await examining;
  if (toolsError !== null) examination.failures.push({ subtask: NO_TOOLS, error: toolsError });
  for (const { subtask, error } of examination.failures) {
    if (isFatal(error, run)) throw error;
    run.log.warn({ err: error, subtask }, 'Subtask failed');
  }
  const grounded = [...(state.grounded_regions ?? []), ...examination.grounded];
  const scope = examination.grounded.length > 0 ? resolveScope(plan, [...run.regions, ...grounded]) : planned;
  const [execution, findings] = await Promise.all([
    runTools(plan, scope, request, examination, run, signal),
    run.reasoner.needsLocalization(run.question)
      ? localizeFindings({ ...request, findings: examination.findings, regions: scope.regions }, run, signal)
      : examination.findings,
    verifying,
  ]);
  const { distortion_set, distortion_analysis, selected_tools, failures } = examination;
  const evidence = {
    distortion_set,
    distortion_analysis,
    selected_tools,
    quality_scores: execution.scores,
    tool_logs: [...failures.map(({ subtask, error }) => createFailureLog(subtask, error)), ...execution.logs],
  };
  return {
    executor_evidence: parse(ExecutorOutput, evidence, {
      knownTools: run.registry.names,
      objects: scope.regions.map((region) => region.name),
    }),
    scope,
    findings,
    grounded_regions: grounded,
    tool_diagnostics: execution.outcomes.map(describeOutcome),
    notes: [...describeScope(scope), ...describeUnmeasuredBoxes(scope, findings)],
  };
}

/** Decodes every pixel: a damaged image is refused, never scored. */
async function verifyImages({ image, reference }: RunContext): Promise<void> {
  await Promise.all([image.verify(), reference?.verify()]);
}

async function runTools(
  plan: PlannerOutput,
  scope: Scope,
  { tools, hasReference }: ExamineRequest,
  examination: Examination,
  run: RunContext,
  signal: AbortSignal,
): Promise<ToolExecution> {
  if (!plan.plan.tool_execution) return NO_EXECUTION;
  const assignments = assignTools(plan, scope, examination);
  try {
    return await executeTools({ assignments, regions: scope.regions, tools, hasReference, run, signal });
  } catch (error) {
    if (signal.aborted || isFatal(error, run)) throw error;
    examination.failures.push({ subtask: 'tool_execution', error });
    return NO_EXECUTION;
  }
}

/** A tool that the query names runs for every distortion of the set, although selection was skipped. */
function assignTools(plan: PlannerOutput, scope: Scope, { distortion_set, selected_tools }: Examination): Assignments {
  const tool = plan.required_tool;
  if (tool === null) return selected_tools ?? {};
  const set = distortion_set ?? scope.named ?? {};
  return Object.fromEntries(
    Object.entries(set).map(([object, categories]) => [
      object,
      Object.fromEntries(categories.map((category) => [category, tool])),
    ]),
  );
}

function describeFailure(error: ModelFailedError): PipelineUpdate {
  const message = `The executor failed: ${publicMessage(error)}`;
  return { error: message, failure: { code: error.code, message } };
}

/** A failure is logged under the subtask's name, so that its null does not read as "nothing found". */
function createFailureLog(name: string, error: unknown): ToolExecutionLog {
  return {
    tool_name: name,
    object_name: GLOBAL,
    distortion: 'Unknown',
    raw_score: null,
    normalized_score: null,
    execution_time: 0,
    fallback: false,
    error: `${name} failed: ${publicMessage(error)}`,
    timestamp: new Date().toISOString(),
  };
}

function describeOutcome({ tool, region, value, score, clipped, cached }: ToolOutcome): ToolDiagnostic {
  return {
    tool_name: tool.name,
    version: tool.version,
    object_name: region,
    raw_score: value,
    normalized_score: score,
    direction: tool.direction,
    range: tool.range,
    clipped,
    cached,
    calibration_version: tool.calibration.version,
  };
}
