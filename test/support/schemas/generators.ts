// Random but repeatable valid values of every model, already in their normal form, for the properties that hold for all of them.
import type { TSchema } from 'typebox';
import { DistortionAnalysis, ExecutorOutput, ToolExecutionLog } from '../../../schemas/pipeline/executor.ts';
import { PlanControlFlags, PlannerInput, PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { PlannerError } from '../../../schemas/pipeline/planner-error.ts';
import { AgenticIQAState } from '../../../schemas/pipeline/state.ts';
import { SummarizerOutput } from '../../../schemas/pipeline/summarizer.ts';
import { DISTORTION_CATEGORIES, SEVERITIES } from '../../../schemas/vocabulary.ts';
import { createRandom } from '../images.ts';

export type Random = () => number;

/** The models whose values flow through the pipeline, each with the maker of its values. */
export const GENERATORS: readonly { name: string; schema: TSchema; make: (random: Random) => unknown }[] = [
  { name: 'PlanControlFlags', schema: PlanControlFlags, make: makeFlags },
  { name: 'PlannerOutput', schema: PlannerOutput, make: makePlan },
  { name: 'PlannerInput', schema: PlannerInput, make: makePlannerInput },
  { name: 'PlannerError', schema: PlannerError, make: makePlannerError },
  { name: 'DistortionAnalysis', schema: DistortionAnalysis, make: makeAnalysis },
  { name: 'ToolExecutionLog', schema: ToolExecutionLog, make: makeToolLog },
  { name: 'ExecutorOutput', schema: ExecutorOutput, make: makeEvidence },
  { name: 'SummarizerOutput', schema: SummarizerOutput, make: makeSummary },
  { name: 'AgenticIQAState', schema: AgenticIQAState, make: makeState },
];

export function generate<T>(make: (random: Random) => T, count: number, seed = 1): T[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => make(random));
}

export function makeState(random: Random): AgenticIQAState {
  return {
    query: text(random),
    image_path: text(random),
    ...sometimes(random, 'reference_path', text),
    ...sometimes(random, 'plan', makePlan),
    ...sometimes(random, 'executor_evidence', makeEvidence),
    ...sometimes(random, 'summarizer_result', makeSummary),
    ...sometimes(random, 'error', text),
    ...sometimes(random, 'iteration_count', () => integer(random, 0, 10)),
    ...sometimes(random, 'max_replan_iterations', () => integer(random, 0, 10)),
    ...sometimes(random, 'replan_history', () => list(random, 10, text)),
  };
}

export function makeFlags(random: Random): PlanControlFlags {
  return {
    distortion_detection: coin(random),
    distortion_analysis: coin(random),
    tool_selection: coin(random),
    tool_execution: coin(random),
  };
}

export function makePlan(random: Random): PlannerOutput {
  return {
    query_type: pick(random, ['IQA', 'Other']),
    query_scope: coin(random) ? 'Global' : [text(random), ...list(random, 3, text)],
    distortion_source: pick(random, ['Explicit', 'Inferred']),
    distortions: orNull(random, () => byObject(random, () => list(random, 3, category))),
    reference_mode: pick(random, ['Full-Reference', 'No-Reference']),
    required_tool: orNull(random, () => text(random)),
    plan: makeFlags(random),
  };
}

export function makePlannerInput(random: Random): PlannerInput {
  return {
    query: text(random),
    image_path: text(random),
    reference_path: orNull(random, () => text(random)),
    prior_context: orNull(random, () => anything(random)),
  };
}

export function makePlannerError(random: Random): PlannerError {
  return {
    error_type: pick(random, ['validation_error', 'timeout_error', 'api_error', 'internal_error']),
    message: text(random),
    details: orNull(random, () => anything(random)),
    retry_count: integer(random, 0, 5),
    timestamp: instant(random),
  };
}

export function makeAnalysis(random: Random): DistortionAnalysis {
  return { type: category(random), severity: pick(random, SEVERITIES), explanation: text(random) };
}

export function makeToolLog(random: Random): ToolExecutionLog {
  const failed = coin(random);
  return {
    tool_name: text(random),
    object_name: pick(random, NAMES),
    distortion: category(random),
    raw_score: failed ? null : (random() - 0.5) * 10 ** integer(random, -3, 6),
    normalized_score: failed ? null : score(random),
    execution_time: random() * 30,
    fallback: coin(random),
    error: failed ? text(random) : null,
    timestamp: instant(random),
  };
}

export function makeEvidence(random: Random): ExecutorOutput {
  return {
    distortion_set: orNull(random, () => byObject(random, () => list(random, 3, category))),
    distortion_analysis: orNull(random, () => byObject(random, () => list(random, 3, makeAnalysis))),
    selected_tools: orNull(random, () => byObject(random, () => byCategory(random, () => text(random)))),
    quality_scores: orNull(random, () =>
      byObject(random, () => byCategory(random, (): [string, number] => [text(random), score(random)])),
    ),
    tool_logs: list(random, 4, makeToolLog),
  };
}

export function makeSummary(random: Random): SummarizerOutput {
  const need_replan = coin(random);
  return {
    final_answer: text(random),
    quality_reasoning: text(random),
    need_replan,
    replan_reason: need_replan ? text(random) : null,
    used_evidence: orNull(random, () => anything(random)),
  };
}

/** The same value with the keys of every object in another order. */
export function shuffleKeys(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffleKeys(item, random));
  if (typeof value !== 'object' || value === null) return value;
  const keyed = Object.entries(value).map(([key, item]) => ({
    order: random(),
    entry: [key, shuffleKeys(item, random)] as const,
  }));
  return Object.fromEntries(keyed.sort((left, right) => left.order - right.order).map(({ entry }) => entry));
}

export const pick = <T>(random: Random, choices: readonly T[]): T => choices[Math.floor(random() * choices.length)]!;
export const integer = (random: Random, low: number, high: number): number =>
  low + Math.floor(random() * (high - low + 1));
export const coin = (random: Random): boolean => random() < 0.5;

/** Names that a careless program trips over, beside ordinary ones. */
const NAMES = [
  'Global',
  'vehicle',
  'left/right',
  'a~b',
  '街',
  '__proto__',
  'constructor',
  'toString',
  '7',
  'the "sky"',
  '😀',
];
const WORDS = [
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
];

const text = (random: Random): string =>
  Array.from({ length: integer(random, 1, 5) }, () => pick(random, WORDS))
    .join(' ')
    .trim() || 'x';
const score = (random: Random): number => pick(random, [1, 5, 1 + 4 * random(), 1 + 4 * random()]);
const category = (random: Random) => pick(random, DISTORTION_CATEGORIES);
const instant = (random: Random): string => new Date(integer(random, 0, 4_000_000_000_000)).toISOString();
const orNull = <T>(random: Random, make: () => T): T | null => (random() < 0.3 ? null : make());

function sometimes<K extends string, T>(random: Random, key: K, make: (random: Random) => T): Partial<Record<K, T>> {
  return coin(random) ? ({ [key]: make(random) } as Record<K, T>) : {};
}

const list = <T>(random: Random, most: number, make: (random: Random) => T): T[] =>
  Array.from({ length: integer(random, 0, most) }, () => make(random));
const byObject = <T>(random: Random, make: () => T): Record<string, T> =>
  Object.fromEntries(list(random, 3, () => [pick(random, NAMES), make()]));
const byCategory = <T>(random: Random, make: () => T): Record<string, T> =>
  Object.fromEntries(list(random, 3, () => [category(random), make()]));

const anything = (random: Random): Record<string, unknown> =>
  Object.fromEntries(
    list(random, 4, () => [
      pick(random, NAMES),
      pick(random, [null, true, 0.25, text(random), [1, 'two', { three: 3 }], { deep: { deeper: [] } }]),
    ]),
  );
