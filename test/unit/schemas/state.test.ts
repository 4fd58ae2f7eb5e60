// The state of the pipeline: valid after every stage, strict about each part.
import t from 'tap';
import { ExecutorOutput } from '../../../schemas/pipeline/executor.ts';
import { buildJsonSchema, parse, parseJson } from '../../../schemas/validation/model.ts';
import { examplesOf, serialize } from '../../support/schemas/models.ts';
import { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { AgenticIQAState, DEFAULT_MAX_REPLAN_ITERATIONS, MAX_HISTORY } from '../../../schemas/pipeline/state.ts';
import { checkField, checkRequired, refusedPaths } from '../../support/schemas/refusal.ts';

const START = { query: 'Is the vehicle blurry?', image_path: 'street.jpg' };
const plan = parse(PlannerOutput, examplesOf(PlannerOutput)[0]);
const executor_evidence = parse(ExecutorOutput, examplesOf(ExecutorOutput)[0]);
const summarizer_result = {
  final_answer: 'Good',
  quality_reasoning: 'Sharp.',
  need_replan: false,
  replan_reason: null,
  used_evidence: null,
};
const FULL = {
  ...START,
  reference_path: 'pristine.jpg',
  plan,
  executor_evidence,
  summarizer_result,
  error: 'none really',
  iteration_count: 1,
  max_replan_iterations: 2,
  replan_history: ['[Iteration 1] x'],
};

// Scenario: state-models / AgenticIQAState structure (Phase 2 subset)
t.test('query and image are required; other fields stay absent', async (t) => {
  t.strictSame(parse(AgenticIQAState, START), START, 'no null, no default');
  t.strictSame(buildJsonSchema(AgenticIQAState)['required'], ['query', 'image_path']);
  checkRequired(t, AgenticIQAState, FULL, ['query', 'image_path']);
  const cases = { schema: AgenticIQAState, base: START };
  checkField(t, 'query', { ...cases, accepts: ['?'], refuses: ['', ' ', null, 1] });
  checkField(t, 'image_path', { ...cases, accepts: ['a'], refuses: ['', null, 1] });
  checkField(t, 'reference_path', { ...cases, accepts: ['a'], refuses: ['', null, 1] });
  checkField(t, 'plan', {
    ...cases,
    accepts: [plan],
    refuses: [null, {}, [], { ...plan, query_type: 'INVALID' }, { ...plan, extra: 1 }],
  });
  checkField(t, 'error', { ...cases, accepts: ['', 'The planner failed'], refuses: [null, 1, ['a'], {}] });
  t.strictSame(refusedPaths(AgenticIQAState, { ...START, pixels: [] }), ['/pixels']);
  t.strictSame(
    parse(AgenticIQAState, { ...START, reference_path: undefined, plan: undefined }),
    START,
    'undefined is absent',
  );
});

// Scenario: state-models / AgenticIQAState structure (Phase 2 subset)
t.test('the published schema describes the state and each of its fields', async (t) => {
  const { description, properties } = buildJsonSchema(AgenticIQAState) as {
    description: string;
    properties: Record<string, { description: string }>;
  };
  t.match(description, /\S/);
  for (const [field, { description }] of Object.entries(properties)) t.match(description, /\S/, field);
});

// Scenario: state-models / State evolution placeholder
t.test('the state is valid after each stage, and each stage has its field', async (t) => {
  const stages = [
    {},
    { plan },
    { executor_evidence },
    { summarizer_result },
    { iteration_count: 1, replan_history: ['[Iteration 1] x'] },
  ];
  let state = { ...START };
  for (const added of stages) {
    state = { ...state, ...added };
    t.strictSame(parse(AgenticIQAState, state), state, Object.keys(state).join(', '));
    t.strictSame(parseJson(AgenticIQAState, serialize(AgenticIQAState, state)), state);
  }
});

// Scenario: executor-state-models / Add executor_evidence field
t.test('executor_evidence is optional and holds an ExecutorOutput', async (t) => {
  t.notOk('executor_evidence' in parse(AgenticIQAState, { ...START, plan }));
  checkField(t, 'executor_evidence', {
    schema: AgenticIQAState,
    base: START,
    accepts: [executor_evidence],
    refuses: [null, [], 'x', { tool_logs: [{}] }, { distortion_set: { Global: ['Fog'] } }, { extra: 1 }],
  });
  t.strictSame(
    parse(AgenticIQAState, { ...START, executor_evidence: {} }).executor_evidence,
    { distortion_set: null, distortion_analysis: null, selected_tools: null, quality_scores: null, tool_logs: [] },
    'with the defaults of its own',
  );
});

// Scenario: summarizer-state-models / Add summarizer_result field to state
t.test('summarizer_result is optional and holds a SummarizerOutput', async (t) => {
  t.notOk('summarizer_result' in parse(AgenticIQAState, { ...START, plan, executor_evidence }));
  checkField(t, 'summarizer_result', {
    schema: AgenticIQAState,
    base: START,
    accepts: [summarizer_result],
    refuses: [null, [], {}, { ...summarizer_result, final_answer: ' ' }, { ...summarizer_result, extra: 1 }],
  });
});

// Scenario: summarizer-state-models / Add iteration tracking fields
t.test('iteration fields: counts from 0, a default limit of 2, a bounded history', async (t) => {
  const cases = { schema: AgenticIQAState, base: START };
  for (const field of ['iteration_count', 'max_replan_iterations'])
    checkField(t, field, { ...cases, accepts: [0, 1, 2, 10], refuses: [-1, 0.5, '1', null, NaN, Infinity] });
  const entries = (count: number) => Array.from({ length: count }, (_item, index) => `[Iteration ${index + 1}] x`);
  checkField(t, 'replan_history', {
    ...cases,
    accepts: [[], entries(1), entries(MAX_HISTORY)],
    refuses: [entries(MAX_HISTORY + 1), [1], null, 'x', {}],
  });
  t.equal(DEFAULT_MAX_REPLAN_ITERATIONS, 2);
  t.equal(MAX_HISTORY, 10);
  t.match(buildJsonSchema(AgenticIQAState), { properties: { max_replan_iterations: { description: /default 2/ } } });
});

// Scenario: summarizer-state-models / Execute pipeline without Summarizer
t.test('a state with plan and evidence but no verdict is valid', async (t) => {
  const state = { ...START, plan, executor_evidence };
  t.strictSame(parse(AgenticIQAState, state), state);
});

// Scenario: summarizer-state-models / Execute pipeline without Executor
t.test('a state with a plan but no evidence is valid', async (t) => {
  const state = { ...START, plan };
  t.strictSame(parse(AgenticIQAState, state), state);
});

t.test('issues in several parts are listed together, each with its full path', async (t) => {
  t.strictSame(
    refusedPaths(AgenticIQAState, {
      query: ' ',
      plan: { ...plan, query_type: 'INVALID' },
      executor_evidence: { ...executor_evidence, tool_logs: [{}] },
      iteration_count: -1,
      extra: 1,
    }).toSorted(),
    [
      '/executor_evidence/tool_logs/0/distortion',
      '/executor_evidence/tool_logs/0/execution_time',
      '/executor_evidence/tool_logs/0/object_name',
      '/executor_evidence/tool_logs/0/timestamp',
      '/executor_evidence/tool_logs/0/tool_name',
      '/extra',
      '/image_path',
      '/iteration_count',
      '/plan/query_type',
      '/query',
    ],
  );
});

t.test('the rules of nested models apply inside the state too', async (t) => {
  const warnings: string[] = [];
  const { summarizer_result: result } = parse(
    AgenticIQAState,
    { ...START, summarizer_result: { final_answer: ' B ', quality_reasoning: ' Sharp. ', need_replan: true } },
    { warn: (message) => void warnings.push(message) },
  );
  t.strictSame(result, {
    need_replan: true,
    replan_reason: 'No reason provided',
    used_evidence: null,
    final_answer: 'B',
    quality_reasoning: 'Sharp.',
  });
  t.equal(warnings.length, 1);
  const tools = { ...START, executor_evidence: { selected_tools: { Global: { Noise: 'NO-SUCH-TOOL' } } } };
  t.strictSame(refusedPaths(AgenticIQAState, tools, { knownTools: new Set(['NIQE']) }), [
    '/executor_evidence/selected_tools/Global/Noise',
  ]);
});

t.test('the examples are states', async (t) => {
  for (const example of examplesOf(AgenticIQAState)) t.strictSame(parse(AgenticIQAState, example), example);
});
