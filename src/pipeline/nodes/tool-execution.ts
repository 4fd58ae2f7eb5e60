// The executor's fourth subtask: runs the assigned tools, replaces those that fail, and logs every attempt. A score is never made up.
import type { ExecutorOutput, ToolExecutionLog } from '../../../schemas/pipeline/executor.ts';
import type { ToolRow } from '../../../schemas/tool.ts';
import type { DistortionCategory } from '../../../schemas/vocabulary.ts';
import type { ScopedRegion, ToolOutcome } from '../../tools/evidence/source.ts';
import { rankTools } from '../../tools/registry.ts';
import type { RunContext } from '../run-context.ts';

/** Object → distortion → tool. */
export type Assignments = Record<string, Record<string, string>>;

export interface ToolExecution {
  scores: ExecutorOutput['quality_scores'];
  logs: ToolExecutionLog[];
  /** Distinct runs, in order. */
  outcomes: ToolOutcome[];
}

interface ExecutionRequest {
  assignments: Assignments;
  regions: readonly ScopedRegion[];
  tools: readonly ToolRow[];
  hasReference: boolean;
  run: RunContext;
  signal: AbortSignal;
}

interface Task {
  region: ScopedRegion;
  distortion: DistortionCategory;
  tool: ToolRow;
  fallback: boolean;
  tried: Set<string>;
}

export async function executeTools(request: ExecutionRequest): Promise<ToolExecution> {
  const results: Results = { scores: new Map(), logs: [], outcomes: [] };
  let tasks = buildTasks(request);
  // Each pass runs all open tasks in one call; a failed task returns with the next best tool.
  while (tasks.length > 0) {
    const outcomes = await runDistinct(tasks, request);
    results.outcomes.push(...outcomes.values());
    tasks = tasks.flatMap((task) => recordOutcome(task, outcomes, results, request));
  }
  const scores = [...results.scores].map(
    ([object, byDistortion]) => [object, Object.fromEntries(byDistortion)] as const,
  );
  return { ...results, scores: scores.length === 0 ? null : Object.fromEntries(scores) };
}

/** Maps, because an object may be called "__proto__". */
interface Results extends Pick<ToolExecution, 'logs' | 'outcomes'> {
  scores: Map<string, Map<string, [tool: string, score: number]>>;
}

function buildTasks({ assignments, regions, run }: ExecutionRequest): Task[] {
  const regionByName = new Map(regions.map((region) => [region.name, region]));
  return Object.entries(assignments).flatMap(([object, tools]) =>
    Object.entries(tools).flatMap(([distortion, name]) => {
      const region = regionByName.get(object);
      const tool = run.registry.find(name);
      return region && tool
        ? [{ region, distortion: distortion as DistortionCategory, tool, fallback: false, tried: new Set([tool.name]) }]
        : [];
    }),
  );
}

async function runDistinct(
  tasks: readonly Task[],
  { run, signal }: ExecutionRequest,
): Promise<Map<string, ToolOutcome>> {
  const distinct = [...new Map(tasks.map((task) => [taskKey(task), task])).values()];
  const outcomes = await run.evidence.run(distinct, signal);
  return new Map(
    distinct.flatMap((task, index) => {
      const outcome = outcomes[index];
      return outcome ? [[taskKey(task), outcome]] : [];
    }),
  );
}

/** Logs a task's outcome. Returns a failed task with another tool, if there is one. */
function recordOutcome(
  task: Task,
  outcomes: Map<string, ToolOutcome>,
  results: Results,
  request: ExecutionRequest,
): Task[] {
  const outcome = outcomes.get(taskKey(task));
  if (!outcome) return [];
  const alreadyCounted = results.logs.some(
    (log) => log.tool_name === task.tool.name && log.object_name === task.region.name,
  );
  results.logs.push({
    tool_name: task.tool.name,
    object_name: task.region.name,
    distortion: task.distortion,
    raw_score: outcome.value,
    normalized_score: outcome.score,
    // One run serves several distortions: its time is counted once.
    execution_time: alreadyCounted ? 0 : outcome.seconds,
    fallback: task.fallback,
    error: outcome.error,
    timestamp: new Date().toISOString(),
  });
  if (outcome.score !== null) {
    const scores = results.scores.get(task.region.name) ?? new Map<string, [string, number]>();
    results.scores.set(task.region.name, scores.set(task.distortion, [task.tool.name, outcome.score]));
    return [];
  }
  request.run.log.warn({ tool: task.tool.name, object: task.region.name, reason: outcome.error }, 'Tool failed');
  const {
    tools,
    hasReference,
    run: { evidence },
  } = request;
  const next = rankTools(tools, task.distortion, hasReference, evidence.shorterSide(task.region)).find(
    (tool) => !task.tried.has(tool.name),
  );
  if (!next) return [];
  task.tried.add(next.name);
  return [{ ...task, tool: next, fallback: true }];
}

const taskKey = (task: Task): string => JSON.stringify([task.tool.name, task.region.name]);
