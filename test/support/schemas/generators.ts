// fast-check arbitraries for the models of the pipeline. Values are already normalised, so that parsing must not change them.
import fc, { type Arbitrary } from 'fast-check';
import type { TSchema } from 'typebox';
import { DistortionAnalysis, ExecutorOutput, ToolExecutionLog } from '../../../schemas/pipeline/executor.ts';
import { PlanControlFlags, PlannerInput, PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { PlannerError } from '../../../schemas/pipeline/planner-error.ts';
import { AgenticIQAState } from '../../../schemas/pipeline/state.ts';
import { SummarizerOutput } from '../../../schemas/pipeline/summarizer.ts';
import { DISTORTION_CATEGORIES, SEVERITIES } from '../../../schemas/vocabulary.ts';

/** Object names, including some that collide with JavaScript or JSON Pointer. */
const name = fc.constantFrom(
  ...['Global', 'vehicle', 'left/right', 'a~b', '街', '__proto__', 'constructor', 'toString', '7', 'the "sky"', '😀'],
);
const word = fc.constantFrom(
  ...[
    'blurry',
    'edge',
    '"quoted"',
    'line\nbreak',
    'tab\there',
    '\\back',
    '<b>',
    'ü',
    '街',
    '😀',
    '\u2028',
    '0',
    'null',
  ],
);
const text = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(' ').trim() || 'x');
const category = fc.constantFrom(...DISTORTION_CATEGORIES);
const score = fc.double({ min: 1, max: 5, noNaN: true });
const timestamp = fc.integer({ min: 0, max: 4_000_000_000_000 }).map((ms) => new Date(ms).toISOString());
/** Without −0, which JSON does not keep. */
const number = fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => value + 0);

const record = <T extends object>(
  required: { [K in keyof T]: Arbitrary<T[K]> },
  optional: Record<string, Arbitrary<unknown>> = {},
) => fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) as never[], noNullPrototype: true });
const orNull = <T>(values: Arbitrary<T>) => fc.option(values, { nil: null });
const list = <T>(values: Arbitrary<T>, maxLength = 3) => fc.array(values, { maxLength });
const keyedBy = <T>(keys: Arbitrary<string>, values: Arbitrary<T>): Arbitrary<Record<string, T>> =>
  list(fc.tuple(keys, values)).map((entries) => Object.fromEntries(entries));
const anyObject = keyedBy(
  name,
  fc.oneof(fc.constantFrom(null, true, 0.25), text, fc.constant([1, 'two', { three: 3 }]), fc.constant({ deep: [] })),
);

const flags = record({
  distortion_detection: fc.boolean(),
  distortion_analysis: fc.boolean(),
  tool_selection: fc.boolean(),
  tool_execution: fc.boolean(),
});
const plan = record({
  query_type: fc.constantFrom('IQA', 'Other'),
  query_scope: fc.oneof(fc.constant('Global'), fc.array(text, { minLength: 1, maxLength: 4 })),
  distortion_source: fc.constantFrom('Explicit', 'Inferred'),
  distortions: orNull(keyedBy(name, list(category))),
  reference_mode: fc.constantFrom('Full-Reference', 'No-Reference'),
  required_tool: orNull(text),
  plan: flags,
});
const plannerInput = record({
  query: text,
  image_path: text,
  reference_path: orNull(text),
  prior_context: orNull(anyObject),
});
const plannerError = record({
  error_type: fc.constantFrom('validation_error', 'timeout_error', 'api_error', 'internal_error'),
  message: text,
  details: orNull(anyObject),
  retry_count: fc.nat(5),
  timestamp,
});
const analysis = record({ type: category, severity: fc.constantFrom(...SEVERITIES), explanation: text });
const toolLog = record({
  tool_name: text,
  object_name: name,
  distortion: category,
  raw_score: orNull(number),
  normalized_score: orNull(score),
  execution_time: fc.double({ min: 0, max: 30, noNaN: true }).map((value) => value + 0),
  fallback: fc.boolean(),
  error: orNull(text),
  timestamp,
});
const evidence = record({
  distortion_set: orNull(keyedBy(name, list(category))),
  distortion_analysis: orNull(keyedBy(name, list(analysis))),
  selected_tools: orNull(keyedBy(name, keyedBy(category, text))),
  quality_scores: orNull(keyedBy(name, keyedBy(category, fc.tuple(text, score)))),
  tool_logs: list(toolLog),
});
const answer = { final_answer: text, quality_reasoning: text, used_evidence: orNull(anyObject) };
const summary = fc.oneof(
  record({ ...answer, need_replan: fc.constant(false), replan_reason: fc.constant(null) }),
  record({ ...answer, need_replan: fc.constant(true), replan_reason: text }),
);
const state = record(
  { query: text, image_path: text },
  {
    reference_path: text,
    plan,
    executor_evidence: evidence,
    summarizer_result: summary,
    error: text,
    iteration_count: fc.nat(10),
    max_replan_iterations: fc.nat(10),
    replan_history: list(text, 10),
  },
);

export const GENERATORS: readonly { name: string; schema: TSchema; values: Arbitrary<object> }[] = [
  { name: 'PlanControlFlags', schema: PlanControlFlags, values: flags },
  { name: 'PlannerOutput', schema: PlannerOutput, values: plan },
  { name: 'PlannerInput', schema: PlannerInput, values: plannerInput },
  { name: 'PlannerError', schema: PlannerError, values: plannerError },
  { name: 'DistortionAnalysis', schema: DistortionAnalysis, values: analysis },
  { name: 'ToolExecutionLog', schema: ToolExecutionLog, values: toolLog },
  { name: 'ExecutorOutput', schema: ExecutorOutput, values: evidence },
  { name: 'SummarizerOutput', schema: SummarizerOutput, values: summary },
  { name: 'AgenticIQAState', schema: AgenticIQAState, values: state },
];

/** Fixed, so that a failure can be repeated. */
export const RUNS = { seed: 1, numRuns: 200 };
