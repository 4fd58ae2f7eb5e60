// The replanning loop's rules: the conditional edge, its log lines, the count and the history.
import t from 'tap';
import type { AgenticIQAState } from '../../../../schemas/pipeline/state.ts';
import {
  createHistoryReducer,
  decideNextNode,
  recordReplanRequest,
} from '../../../../src/pipeline/rules/replanning.ts';
import { captureLog } from '../../../support/app.ts';

const result = (
  need_replan: boolean,
  replan_reason: string | null = need_replan ? 'Missing tool scores for vehicle region' : null,
) => ({ final_answer: 'Good', quality_reasoning: 'Because.', need_replan, replan_reason, used_evidence: null });

const decide = (state: Partial<AgenticIQAState>) => {
  const { log, logs } = captureLog();
  return { next: decideNextNode(state, log), logs, messages: logs.map((line) => line['msg']) };
};

// Scenario: replanning-logic / Define conditional edge function
t.test('back to the planner only when a replan is asked for and the limit allows it', async (t) => {
  t.equal(decide({}).next, '__end__', 'without a summarizer result');
  t.equal(decide({ summarizer_result: result(false), iteration_count: 0, max_replan_iterations: 2 }).next, '__end__');
  t.equal(decide({ summarizer_result: result(true), iteration_count: 1, max_replan_iterations: 2 }).next, 'planner');
  t.equal(decide({ summarizer_result: result(true), iteration_count: 2, max_replan_iterations: 2 }).next, '__end__');
  t.equal(decide({ summarizer_result: result(true) }).next, 'planner', 'defaults: iteration 0, limit 2');
  t.equal(decide({ summarizer_result: result(true), iteration_count: 2 }).next, '__end__', 'default limit 2');
});

// Scenario: replanning-logic / Disable replanning
t.test('a limit of 0 or 1 allows no replan', async (t) => {
  t.equal(decide({ summarizer_result: result(true), iteration_count: 1, max_replan_iterations: 0 }).next, '__end__');
  t.equal(decide({ summarizer_result: result(true), iteration_count: 1, max_replan_iterations: 1 }).next, '__end__');
});

// Scenario: replanning-logic / Planner fails on replan
t.test('after an error the run ends, whatever the last result asked for', async (t) => {
  t.equal(
    decide({
      summarizer_result: result(true),
      iteration_count: 1,
      max_replan_iterations: 5,
      error: 'The planner failed',
    }).next,
    '__end__',
  );
});

// Scenario: replanning-logic / Log conditional edge decision
t.test('the decision is logged with its four values', async (t) => {
  const { logs } = decide({ summarizer_result: result(false), iteration_count: 0, max_replan_iterations: 2 });
  t.match(logs[0], {
    level: 30,
    need_replan: false,
    iteration_count: 0,
    max_replan_iterations: 2,
    decision: '__end__',
  });
});

// Scenario: replanning-logic / Log replanning trigger
t.test('a triggered replan is logged at info with reason and count', async (t) => {
  const { logs, messages } = decide({ summarizer_result: result(true), iteration_count: 1, max_replan_iterations: 2 });
  t.ok(messages.includes('Replanning triggered: Missing tool scores for vehicle region'));
  t.ok(messages.includes('Iteration 1/2'));
  t.ok(logs.every((line) => line['level'] === 30));
});

// Scenario: replanning-logic / Log max iterations reached
// Scenario: replanning-logic / Prevent infinite replanning loop
t.test('the limit is logged as a warning', async (t) => {
  const { logs } = decide({
    summarizer_result: result(true),
    iteration_count: 2,
    max_replan_iterations: 2,
    replan_history: ['[Iteration 2] x'],
  });
  const warnings = logs.filter((line) => line['level'] === 40).map((line) => line['msg']);
  t.strictSame(warnings, [
    'Max replanning iterations (2) reached',
    'Continuing with current evidence despite need_replan=true',
  ]);
});

// Scenario: replanning-logic / Summarizer repeatedly requests replan
t.test('a summarizer that asks on every iteration is reported as a possible logic issue', async (t) => {
  const { messages } = decide({
    summarizer_result: result(true),
    iteration_count: 2,
    max_replan_iterations: 2,
    replan_history: ['[Iteration 1] x', '[Iteration 2] x'],
  });
  t.ok(messages.some((message) => String(message).includes('possible logic issue in the summarizer')));
});

// Scenario: replanning-logic / Increment iteration_count on replan
// Scenario: replanning-logic / Append to replan_history
// Scenario: summarizer-state-models / Append replan reasons to history
t.test('a request is counted and formatted with its iteration', async (t) => {
  t.strictSame(recordReplanRequest({}, 'Missing tool scores for vehicle region'), {
    iteration_count: 1,
    replan_history: ['[Iteration 1] Missing tool scores for vehicle region'],
  });
  t.equal(recordReplanRequest({ iteration_count: 1 }, 'x').iteration_count, 2);
});

// Scenario: summarizer-state-models / Limit history size
// Scenario: replanning-logic / State size management
t.test('the history keeps the latest ten entries, first in first out, with a warning', async (t) => {
  const { log, logs } = captureLog();
  const reduce = createHistoryReducer(log);
  let history: string[] = [];
  for (let iteration = 1; iteration <= 10; iteration += 1) history = reduce(history, [`[Iteration ${iteration}] x`]);
  t.equal(history.length, 10);
  t.equal(logs.length, 0, 'no warning up to the limit');
  history = reduce(history, ['[Iteration 11] x']);
  t.equal(history.length, 10);
  t.equal(history[0], '[Iteration 2] x');
  t.equal(history.at(-1), '[Iteration 11] x');
  t.match(logs, [{ level: 40, msg: /Excessive replanning/ }]);
});
