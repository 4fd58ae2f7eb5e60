// Node 2: gathers the evidence that the plan asks for. A subtask that fails leaves null and a log; only models without a stand-in end the run.
import type { Finding, ToolDiagnostic } from '../../../schemas/responses/assessment.ts';
import { ExecutorOutput, ToolExecutionLog } from '../../../schemas/pipeline/executor.ts';
import { parse } from '../../../schemas/validation/model.ts';
import type { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { GLOBAL } from '../../../schemas/vocabulary.ts';
import { publicMessage } from '../../errors.ts';
import type { Examination } from '../../reasoners/reasoner.ts';
import type { ToolOutcome } from '../../tools/evidence/source.ts';
import { ModelFailure } from '../../vlm/model-failure.ts';
import { NO_TOOLS } from '../rules/gaps.ts';
import { isFatal, orderExamination } from '../rules/examine-request.ts';
import { locate } from '../rules/localization.ts';
import type { RunContext } from '../run-context.ts';
import { boxesOf, resolveScope, type Scope } from '../rules/scope.ts';
import { orAborted } from '../stage.ts';
import type { PipelineState, PipelineUpdate } from '../state.ts';
import { executeTools, type Assignments, type ToolExecution } from './tool-execution.ts';

export async function execute(state: PipelineState, run: RunContext, signal: AbortSignal): Promise<PipelineUpdate> {
  const { plan } = state;
  if (!plan) throw new TypeError('Expected a plan before the executor runs');
  if (plan.query_type === 'Other') {
    run.evidence.dropPrefetch();
    await run.verifyPictures();
    return { executor_evidence: parse(ExecutorOutput, {}), findings: [], tool_diagnostics: [], notes: [] };
  }
  const scope = resolveScope(plan, boxesOf(state, run));
  if (!scope.regions.some(({ box }) => box === null)) run.evidence.dropPrefetch();
  try {
    return await orAborted(gather(state, plan, scope, run, signal), signal);
  } catch (error) {
    if (run.signal.aborted || isFatal(error, run)) throw error;
    run.log.warn({ err: error }, 'Executor failed');
    // Only where nobody may stand in for the models. On a replan the summarizer is told instead: it has a good result to compare with.
    if (error instanceof ModelFailure && !state.summarizer_result) return failedRun(error);
    return { executor_evidence: failedEvidence(error), findings: [], tool_diagnostics: [], notes: notesOf(scope) };
  }
}

async function gather(
  state: PipelineState,
  plan: PlannerOutput,
  known: Scope,
  run: RunContext,
  signal: AbortSignal,
): Promise<PipelineUpdate> {
  const { request, toolless } = await orderExamination(state, plan, run, signal);
  const { tools, hasReference } = request;
  // While a model looks at the picture the processor is idle: a good time for the second decoder, which looks for damage.
  if (run.reasoner.seesPixels) run.verifyPictures().catch(() => undefined);
  const examination = await run.reasoner.examine(request, signal);
  if (toolless !== null) examination.failures.push({ subtask: NO_TOOLS, error: toolless });
  const boxes = [...boxesOf(state, run), ...examination.grounded];
  const scope = examination.grounded.length > 0 ? resolveScope(plan, boxes) : known;
  for (const { subtask, error } of examination.failures) {
    if (isFatal(error, run)) throw error;
    run.log.warn({ err: error, subtask }, 'Subtask failed');
  }
  // The second decoder works while the tools run: its time is hidden, and the measurements had the processor to themselves.
  const nothing: ToolExecution = { scores: null, logs: [], outcomes: [] };
  const [execution, findings] = await Promise.all([
    plan.plan.tool_execution
      ? executeTools({
          assignments: assign(plan, scope, examination),
          regions: scope.regions,
          tools,
          hasReference,
          run,
          signal,
        }).catch((error: unknown) => {
          if (signal.aborted || isFatal(error, run)) throw error;
          examination.failures.push({ subtask: 'tool_execution', error });
          return nothing;
        })
      : nothing,
    run.reasoner.locates(state.query, run.choices)
      ? locate({ findings: examination.findings, regions: scope.regions, hasReference }, run, signal)
      : examination.findings,
    run.verifyPictures(),
  ]);
  const failures = examination.failures.map(({ subtask, error }) => failureLog(subtask, error));
  return {
    executor_evidence: parse(
      ExecutorOutput,
      {
        distortion_set: examination.distortion_set,
        distortion_analysis: examination.distortion_analysis,
        selected_tools: examination.selected_tools,
        quality_scores: execution.scores,
        tool_logs: [...failures, ...execution.logs],
      },
      { knownTools: run.registry.names, objects: scope.regions.map((region) => region.name) },
    ),
    findings,
    grounded_regions: boxes.slice(run.regions.length),
    tool_diagnostics: execution.outcomes.map(diagnose),
    notes: [...notesOf(scope), ...unmeasuredBoxes(scope, findings)],
  };
}

/** A named tool is run for every distortion of the set, even though selection was skipped. */
function assign(plan: PlannerOutput, scope: Scope, { distortion_set, selected_tools }: Examination): Assignments {
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

function failedRun(error: ModelFailure): PipelineUpdate {
  const message = `The executor failed: ${publicMessage(error)}`;
  return { error: message, failure: { code: error.code, message } };
}

const failedEvidence = (error: unknown): ExecutorOutput =>
  parse(ExecutorOutput, { tool_logs: [failureLog('executor', error)] });

/** What failed stands in the log under its own name, so that nobody mistakes a null for "nothing found". */
function failureLog(name: string, error: unknown): ToolExecutionLog {
  return parse(ToolExecutionLog, {
    tool_name: name,
    object_name: GLOBAL,
    distortion: 'Unknown',
    execution_time: 0,
    error: `${name} failed: ${publicMessage(error)}`,
    timestamp: new Date(),
  });
}

function notesOf(scope: Scope): string[] {
  return [
    ...scope.ungrounded.map(
      (object) => `No box was given for ${object}: what was measured is about the whole picture.`,
    ),
    ...scope.unused.map((name) => `The box of ${name} was not used: the query does not ask about it.`),
  ];
}

/** An answer about a box in which nothing was measurable should not read as if all were well there. */
function unmeasuredBoxes({ regions }: Scope, findings: readonly Finding[]): string[] {
  return regions.flatMap(({ name, box }) => {
    const values = findings
      .filter((finding) => finding.object_name === name)
      .flatMap(({ measurements }) => Object.values(measurements));
    if (box === null || values.length === 0 || values.some((value) => value !== null)) return [];
    return [
      `Nothing could be measured in the box of ${name}: its ${box[2]} × ${box[3]} pixels are too few, or hold nothing to measure.`,
    ];
  });
}

function diagnose({ tool, region, value, score, clipped, cached }: ToolOutcome): ToolDiagnostic {
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
