// Runs tools on regions and calibrates their values.
import type { ToolEvent } from '../../../schemas/sidecar.ts';
import type { ToolRow } from '../../../schemas/tool.ts';
import { calibrate } from '../calibration.ts';
import type { ToolCatalogue } from './catalogue.ts';
import type { ScopedRegion } from './region.ts';
import type { ResultFetcher } from './result-fetcher.ts';

export interface ToolRun {
  tool: ToolRow;
  region: ScopedRegion;
}

export interface ToolOutcome {
  tool: ToolRow;
  region: string;
  value: number | null;
  score: number | null;
  clipped: boolean;
  error: string | null;
  seconds: number;
  cached: boolean;
}

interface RunToolsDependencies {
  catalogue: ToolCatalogue;
  fetcher: ResultFetcher;
  /** Called with every outcome as soon as it is known. */
  onTool: (outcome: ToolOutcome) => void;
}

/** Outcomes in the order of the runs. */
export async function runTools(
  runs: readonly ToolRun[],
  { catalogue, fetcher, onTool }: RunToolsDependencies,
  signal: AbortSignal,
): Promise<ToolOutcome[]> {
  const unavailableReason = await catalogue.unavailableReasons();
  const outcomes = new Map<ToolRun, ToolOutcome>();
  const settle = (run: ToolRun, outcome: ToolOutcome) => {
    outcomes.set(run, outcome);
    onTool(outcome);
  };
  const feasible = runs.filter((run) => {
    const reason = unavailableReason(run.tool);
    if (reason !== null) settle(run, buildFailure(run, reason));
    return reason === null;
  });
  await fetcher.fetch(
    feasible.map(({ tool, region }) => fetcher.requestTool(region, tool)),
    signal,
    (index, { event, cached }) => {
      const run = feasible[index];
      if (run) settle(run, buildOutcome(run, event as ToolEvent, cached));
    },
  );
  return runs.map((run) => outcomes.get(run) ?? buildFailure(run, 'The sidecar gave no answer'));
}

function buildOutcome(run: ToolRun, { value, time_ms, error, version }: ToolEvent, cached: boolean): ToolOutcome {
  const { tool, region } = run;
  if (value === null) return buildFailure(run, error?.message ?? 'The tool gave no value', time_ms);
  if (version !== tool.version)
    return buildFailure(
      run,
      `The sidecar ran version ${version} of ${tool.name} but the registry describes ${tool.version}`,
      time_ms,
    );
  return {
    tool,
    region: region.name,
    value,
    ...calibrate(value, tool.calibration),
    error: null,
    seconds: cached ? 0 : time_ms / 1000,
    cached,
  };
}

function buildFailure({ tool, region }: ToolRun, error: string, milliseconds = 0): ToolOutcome {
  return {
    tool,
    region: region.name,
    value: null,
    score: null,
    clipped: false,
    error,
    seconds: milliseconds / 1000,
    cached: false,
  };
}
