// The compiled graph as a whole: order of the nodes, reducers, the replanning loop, failures that become state, aborts.
import t from 'tap';
import type { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { parse } from '../../../schemas/validation/model.ts';
import type { DistortionCategory } from '../../../schemas/vocabulary.ts';
import { AgenticIQAState } from '../../../schemas/pipeline/state.ts';
import { IqaError } from '../../../src/errors.ts';
import { buildGraph } from '../../../src/pipeline/graph.ts';
import type { PipelineState } from '../../../src/pipeline/state.ts';
import { captureLog } from '../../support/app.ts';
import { pipelineConfig, runGraph, scriptEvidence, scriptImage } from '../../support/run.ts';
import { GLOBAL_PLAN, scriptReasoner } from '../../support/reasoners/scripted-reasoner.ts';

const REPLAN = { need_replan: true, replan_reason: 'Missing tool scores for vehicle region' };

// Scenario: planner-design / LangGraph Integration Approach
// Scenario: replanning-logic / Register Summarizer node
// Scenario: replanning-logic / Update edge from Executor to Summarizer
// Scenario: replanning-logic / Attach conditional edge to Summarizer
t.test('planner, executor, summarizer, then back or end', async (t) => {
  const { nodes, edges } = await buildGraph(pipelineConfig, captureLog().log).getGraphAsync();
  t.strictSame(Object.keys(nodes).sort(), ['__end__', '__start__', 'executor', 'planner', 'summarizer']);
  const drawn = edges.map(({ source, target, conditional }) => `${source} ${conditional ? '?' : '-'} ${target}`).sort();
  t.strictSame(drawn, [
    '__start__ - planner',
    'executor - summarizer',
    'planner - executor',
    'summarizer ? __end__',
    'summarizer ? planner',
  ]);
});

// Scenario: replanning-logic / Initialize iteration_count
// Scenario: state-models / Plan state update reducer
// Scenario: executor-state-models / State merging with executor evidence
// Scenario: summarizer-state-models / State merging with summarizer_result
t.test('one round: every stage adds its output and leaves the rest alone', async (t) => {
  const { state } = await runGraph(t, { script: { plans: [GLOBAL_PLAN], examinations: [{}], summaries: [{}] } });
  t.strictSame(state.plan, GLOBAL_PLAN);
  t.equal(state.query, 'How is the overall quality of this image?');
  t.equal(state.image_path, 'photo.png');
  t.equal(state.iteration_count, 0);
  t.strictSame(state.executor_evidence?.selected_tools, { Global: { Noise: 'NIQE' } });
  t.match(state.executor_evidence?.quality_scores, { Global: { Noise: ['NIQE', Number] } });
  t.equal(state.summarizer_result?.final_answer, 'Good');
  t.strictSame(state.replan_history, []);
  t.doesNotThrow(() => parse(AgenticIQAState, publicPart(state)));
});

// Scenario: replanning-logic / Include replan_reason in state
// Scenario: replanning-logic / Planner adapts to feedback (optional enhancement)
// Scenario: replanning-logic / Preserve previous outputs during replan
// Scenario: replanning-logic / Reset iteration_count not supported
t.test(
  'a replan gives the planner the reason, the previous plan and the history, and its outputs replace the old ones whole',
  async (t) => {
    const first = { ...GLOBAL_PLAN, plan: { ...GLOBAL_PLAN.plan, tool_execution: false } };
    const { state, requests, messages } = await runGraph(t, {
      script: {
        plans: [first, GLOBAL_PLAN],
        examinations: [{ distortion_set: { Global: ['Blurs', 'Noise'] } }, {}],
        summaries: [REPLAN, {}],
      },
    });
    t.strictSame(requests.plan[0]?.replan, null);
    t.strictSame(requests.plan[1]?.replan, {
      gaps: [],
      modelReason: 'Missing tool scores for vehicle region',
      reason: 'Missing tool scores for vehicle region',
      previousPlan: first,
      history: ['[Iteration 1] Missing tool scores for vehicle region'],
    });
    t.strictSame(state.plan, GLOBAL_PLAN);
    t.strictSame(state.executor_evidence?.distortion_set, { Global: ['Noise'] }, 'not merged with the first round');
    t.equal(state.summarizer_result?.need_replan, false);
    t.equal(state.iteration_count, 1);
    t.ok(messages.includes('Replanning triggered: Missing tool scores for vehicle region'));
    t.ok(messages.includes('Iteration 1/2'));
  },
);

// Scenario: replanning-logic / Summarizer repeatedly requests replan
// Scenario: replanning-logic / Prevent infinite replanning loop
// Scenario: replanning-logic / Configurable max iterations
t.test('a limit of N allows N − 1 replans and leaves need_replan true', async (t) => {
  for (const [limit, rounds] of [
    [0, 1],
    [1, 1],
    [2, 2],
    [3, 3],
    [10, 10],
  ] as const) {
    const times = <T>(step: T): T[] => Array.from({ length: rounds }, () => step);
    const { state, messages } = await runGraph(t, {
      script: { plans: times(GLOBAL_PLAN), examinations: times({}), summaries: times(REPLAN) },
      input: { max_replan_iterations: limit },
    });
    t.equal(state.iteration_count, rounds, `limit ${limit}: the refused request is counted`);
    t.equal(state.replan_history?.length, rounds);
    t.equal(state.summarizer_result?.need_replan, true);
    t.ok(messages.includes(`Max replanning iterations (${limit}) reached`));
    t.ok(messages.includes('Continuing with current evidence despite need_replan=true'));
  }
});

// Scenario: replanning-logic / Planner fails on replan
t.test('a planner that fails on a replan ends the run with the error and the last good result', async (t) => {
  const { state, logs } = await runGraph(t, {
    script: {
      plans: [GLOBAL_PLAN, new Error('no answer')],
      examinations: [{}],
      summaries: [{ ...REPLAN, final_answer: 'Fair' }],
    },
    input: { max_replan_iterations: 5 },
  });
  t.equal(state.error, 'The planner failed: no answer');
  t.equal(state.summarizer_result?.final_answer, 'Fair');
  t.equal(state.iteration_count, 1, 'not counted further');
  t.strictSame(state.plan, GLOBAL_PLAN);
  const warning = logs.find((line) => line['msg'] === 'Planner attempt failed');
  t.match(warning, {
    level: 40,
    planner_error: { error_type: 'internal_error', retry_count: 0, details: { attempt: 1, backend: 'scripted' } },
  });
});

// Scenario: state-models / Error accumulation reducer
t.test(
  'a planner that fails at once leaves its error and no result; neither executor nor summarizer runs',
  async (t) => {
    const { state, requests } = await runGraph(t, {
      script: { plans: [new IqaError('IQA_MODEL_TIMEOUT', 'too slow')] },
    });
    t.equal(state.error, 'The planner failed: too slow');
    t.match(state.failure, { code: 'IQA_MODEL_TIMEOUT' });
    t.equal(state.summarizer_result, undefined);
    t.equal(requests.examine.length + requests.summarize.length, 0);
  },
);

t.test('a plan outside the closed lists is rejected', async (t) => {
  const { state } = await runGraph(t, { script: { plans: [{ ...GLOBAL_PLAN, required_tool: 'rm -rf /' }] } });
  t.match(state.error, /required_tool but received "rm -rf \/"/);
  t.match(state.failure, { code: 'IQA_MODEL_FAILED' });
});

// Scenario: replanning-logic / Executor fails on replan
t.test('an executor that fails reaches the summarizer as all-null evidence with the error in its log', async (t) => {
  const { state, requests } = await runGraph(t, {
    script: {
      plans: [GLOBAL_PLAN, GLOBAL_PLAN],
      examinations: [{}, new Error('out of memory')],
      summaries: [REPLAN, REPLAN],
    },
  });
  const evidence = requests.summarize[1]?.evidence;
  t.match(evidence, { distortion_set: null, distortion_analysis: null, selected_tools: null, quality_scores: null });
  t.match(evidence?.tool_logs, [{ error: /out of memory/, raw_score: null, normalized_score: null }]);
  t.equal(state.iteration_count, 2, 'the limit ends the loop');
});

t.test('a summarizer that fails keeps the last good result', async (t) => {
  const { state } = await runGraph(t, {
    script: {
      plans: [GLOBAL_PLAN, GLOBAL_PLAN],
      examinations: [{}, {}],
      summaries: [REPLAN, new Error('no connection')],
    },
  });
  t.match(state.error, /The summarizer failed: no connection/);
  t.equal(state.summarizer_result?.replan_reason, REPLAN.replan_reason);
});

// Scenario: summarizer-state-models / Validate replan_reason presence
t.test('a replan without a reason gets one, and a warning', async (t) => {
  const { state, messages } = await runGraph(t, {
    script: { plans: [GLOBAL_PLAN], examinations: [{}], summaries: [{ need_replan: true, replan_reason: null }] },
    input: { max_replan_iterations: 0 },
  });
  t.equal(state.summarizer_result?.replan_reason, 'No reason provided');
  t.strictSame(state.replan_history, ['[Iteration 1] No reason provided']);
  t.ok(messages.includes('need_replan is true without a replan_reason'));
});

// Scenario: replanning-logic / Phase 3 compatibility
// Scenario: summarizer-state-models / Execute pipeline without Summarizer
t.test('a run that stops before the summarizer ends with the evidence, and its state is valid', async (t) => {
  const { state } = await runGraph(t, {
    script: { plans: [GLOBAL_PLAN], examinations: [{}] },
    stopBefore: 'summarizer',
  });
  t.ok(state.executor_evidence);
  t.equal(state.summarizer_result, undefined);
  t.doesNotThrow(() => parse(AgenticIQAState, publicPart(state)));
});

// Scenario: summarizer-state-models / Execute pipeline without Executor
t.test('a state with a plan only is valid, and the summarizer is not called for it', async (t) => {
  t.doesNotThrow(() => parse(AgenticIQAState, { query: 'Rate it.', image_path: 'photo.png', plan: GLOBAL_PLAN }));
  const reasoner = scriptReasoner({
    plans: [GLOBAL_PLAN],
    examinations: [new IqaError('IQA_INPUT_IMAGE', 'damaged')],
    summaries: [{}],
  });
  await t.rejects(runGraph(t, { script: {}, context: { reasoner } }), { code: 'IQA_INPUT_IMAGE' });
  t.equal(reasoner.requests.examine.length, 1, 'the run ended in the executor');
  t.equal(reasoner.requests.summarize.length, 0, 'the summarizer was not called');
});

// The gaps that the pipeline finds travel as values: the next plan and the next selection read them, the state shows their text.
t.test('a gap reaches the next round typed, and the state as text', async (t) => {
  const gap = { kind: 'contradicted_tool', region: 'Global', tool: 'NIQE' } as const;
  const reasoner = scriptReasoner({ plans: [GLOBAL_PLAN, GLOBAL_PLAN], examinations: [{}, {}] });
  const summaries = [{ gaps: [gap], modelReason: 'look again' }, null];
  reasoner.summarize = async (request) => ({
    output: { final_answer: 'Good', quality_reasoning: 'x', used_evidence: null },
    score: request.fuse(null),
    replan: summaries.shift() ?? null,
  });
  const { state } = await runGraph(t, { script: {}, context: { reasoner } });
  t.match(reasoner.requests.plan[1]?.replan, { gaps: [gap], modelReason: 'look again' });
  t.strictSame([...(reasoner.requests.examine[1]?.contradictedTools ?? [])], ['NIQE']);
  t.strictSame(state.replan_history, ['[Iteration 1] Contradicting analysis and tool scores for Global; look again']);
});

t.test('the planner drops the prefetch when the plan does not need the whole image, and only then', async (t) => {
  const box = { name: 'car', box: [0, 0, 99, 99] };
  const named = { Global: ['Noise'] as DistortionCategory[] };
  const car: PlannerOutput = {
    ...GLOBAL_PLAN,
    query_scope: ['car'],
    plan: { ...GLOBAL_PLAN.plan, tool_execution: false },
  };
  const other: PlannerOutput = { ...GLOBAL_PLAN, query_type: 'Other' };
  for (const [plans, expected] of [
    [[GLOBAL_PLAN, GLOBAL_PLAN], 0],
    [[other], 1],
    [[car], 1],
    [[{ ...car, distortions: named }], 0],
  ] as const) {
    let drops = 0;
    const prefetch = {
      start: () => Promise.resolve(),
      drop: () => {
        drops += 1;
      },
    };
    await runGraph(t, {
      script: {
        plans: [...plans],
        examinations: plans.flatMap(({ query_type }) =>
          query_type === 'Other' ? [] : [{ distortion_set: null, distortion_analysis: null, selected_tools: null }],
        ),
        summaries: plans.map((_, index) => (index < plans.length - 1 ? REPLAN : {})),
      },
      evidence: { ...scriptEvidence({}), prefetch },
      context: { regions: [box] },
    });
    t.equal(drops, expected);
  }
});

t.test('a damaged image is refused, whatever the plan and the reasoner', async (t) => {
  for (const hasVision of [false, true]) {
    for (const plan of [GLOBAL_PLAN, { ...GLOBAL_PLAN, query_type: 'Other' as const }]) {
      const reasoner = scriptReasoner({ plans: [plan], examinations: [{}], summaries: [{}], hasVision });
      const image = { ...scriptImage(), verify: () => Promise.reject(new IqaError('IQA_INPUT_IMAGE', 'damaged')) };
      await t.rejects(runGraph(t, { script: {}, context: { reasoner, image } }), { code: 'IQA_INPUT_IMAGE' });
      t.equal(reasoner.requests.summarize.length, 0);
    }
  }
});

t.test('prior_context reaches the planner', async (t) => {
  const { requests } = await runGraph(t, {
    script: { plans: [GLOBAL_PLAN], examinations: [{}], summaries: [{}] },
    context: { priorContext: { turn: 1 } },
  });
  t.strictSame(requests.plan[0]?.input.prior_context, { turn: 1 });
});

t.test('a client that disconnects ends the run at once, also inside a node', async (t) => {
  const controller = new AbortController();
  const started = performance.now();
  const running = runGraph(t, {
    script: {
      plans: [
        () =>
          new Promise(() => {
            setTimeout(() => {
              controller.abort(new Error('gone'));
            }, 30);
          }),
      ],
    },
    context: { signal: controller.signal },
  });
  await t.rejects(running);
  t.ok(performance.now() - started < pipelineConfig.timeouts_ms.planner);
});

t.test('a node that takes too long fails within its own limit', async (t) => {
  // Timeout signals alone do not keep a process alive.
  const alive = setInterval(() => undefined, 1_000);
  t.teardown(() => {
    clearInterval(alive);
  });
  const config = { ...pipelineConfig, timeouts_ms: { ...pipelineConfig.timeouts_ms, planner: 40, executor: 40 } };
  const slowPlan = await runGraph(t, { script: { plans: [() => new Promise(() => undefined)] }, config });
  t.match(slowPlan.state.failure, { code: 'IQA_MODEL_TIMEOUT' });
  const slowExecutor = await runGraph(t, {
    script: { plans: [GLOBAL_PLAN], examinations: [() => new Promise(() => undefined)], summaries: [{}] },
    config,
  });
  t.match(slowExecutor.state.executor_evidence?.tool_logs, [{ error: /executor failed/ }]);
});

/** The published state is the graph's state without its diagnostics. */
function publicPart(state: PipelineState): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(state).filter(
      ([key, value]) => key in AgenticIQAState.properties && (value as unknown) !== undefined,
    ),
  );
}
