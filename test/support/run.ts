// Runs the compiled graph with a scripted reasoner and scripted tool values: no HTTP, no sidecar, real wiring.
import type { Test } from 'tap';
import { loadConfig, projectRoot, type PipelineConfig } from '../../src/config/config.ts';
import { startDeadline } from '../../src/assessments/deadline.ts';
import { buildGraph } from '../../src/pipeline/graph.ts';
import type { PreparedImage } from '../../src/images/prepare-image.ts';
import type { RunContext } from '../../src/pipeline/run-context.ts';
import type { PipelineState } from '../../src/pipeline/state.ts';
import type { EvidenceSource, ToolOutcome } from '../../src/tools/evidence/source.ts';
import { calibrate } from '../../src/tools/calibration.ts';
import { loadRegistry } from '../../src/tools/registry.ts';
import { captureLog } from './app.ts';
import { scriptReasoner, type Script } from './reasoners/scripted-reasoner.ts';

export const registry = loadRegistry(projectRoot());
export const pipelineConfig = loadConfig({}).pipeline;

/** Tool → value, or the error it fails with. */
export type ToolValues = Record<string, number | Error>;

export function scriptEvidence(values: ToolValues): EvidenceSource {
  return {
    prefetch: { start: () => Promise.resolve(), drop: () => undefined },
    shorterSide: () => 512,
    availableTools: async () => [...registry.rows],
    measure: async () => new Map(),
    run: async (runs) =>
      runs.map(({ tool, region }): ToolOutcome => {
        const value = values[tool.name];
        if (typeof value !== 'number')
          return {
            tool,
            region: region.name,
            value: null,
            score: null,
            clipped: false,
            error: value?.message ?? 'not scripted',
            seconds: 0,
            cached: false,
          };
        return {
          tool,
          region: region.name,
          value,
          ...calibrate(value, tool.calibration),
          error: null,
          seconds: 0.01,
          cached: false,
        };
      }),
    maps: async () => [],
    locate: async (sought) => sought.map(() => null),
    statistics: () => ({ hits: 0, misses: 0, sidecarMs: 0, sidecarVersion: null }),
  };
}

export interface GraphRun {
  script: Script;
  values?: ToolValues;
  evidence?: EvidenceSource;
  input?: Partial<PipelineState>;
  context?: Partial<RunContext>;
  config?: PipelineConfig;
  /** Ends the run before this node. */
  stopBefore?: 'summarizer';
}

/** Its file is never opened. */
export function scriptImage(): PreparedImage {
  return {
    field: 'image',
    info: { sha256: '0'.repeat(64), width: 512, height: 512, format: 'png', bytes: 1, notes: [] },
    path: 'photo.png',
    bytes: 1,
    sha256: '0'.repeat(64),
    jpegQuality: null,
    verify: () => Promise.resolve(),
  };
}

export async function runGraph(
  t: Test,
  {
    script,
    values = { NIQE: 4 },
    evidence = scriptEvidence(values),
    input = {},
    context = {},
    config = pipelineConfig,
    stopBefore,
  }: GraphRun,
) {
  const { log, logs } = captureLog();
  const reasoner = scriptReasoner(script);
  const query = input.query ?? 'How is the overall quality of this image?';
  const run: RunContext = {
    reasoner,
    evidence,
    registry,
    log,
    question: { query, choices: [] },
    image: scriptImage(),
    reference: null,
    regions: [],
    priorContext: null,
    checkImagePath: () => null,
    timings: {},
    signal: new AbortController().signal,
    deadline: startDeadline(config.timeouts_ms.request),
    report: () => undefined,
    ...context,
  };
  const state = (await buildGraph(config, log).invoke(
    { query, image_path: 'photo.png', iteration_count: 0, max_replan_iterations: 2, ...input },
    {
      configurable: { run },
      recursionLimit: config.replanning.recursion_limit,
      signal: run.signal,
      ...(stopBefore ? { interruptBefore: [stopBefore] } : {}),
    },
  )) as PipelineState;
  t.equal(reasoner.unusedSteps(), 0, 'the whole script was played');
  return { state, logs, messages: logs.map((line) => String(line['msg'])), requests: reasoner.requests, run };
}
