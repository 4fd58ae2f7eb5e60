// Scope, tool execution and gaps: what is measured, what replaces a failed tool, what counts as missing.
import t from 'tap';
import { ExecutorOutput } from '../../../../schemas/pipeline/executor.ts';
import { parse } from '../../../../schemas/validation/model.ts';
import type { PlannerOutput } from '../../../../schemas/pipeline/planner.ts';
import { findGaps, formatGap, formatReplanReason } from '../../../../src/pipeline/rules/gaps.ts';
import { resolveScope } from '../../../../src/pipeline/rules/scope.ts';
import { IqaError } from '../../../../src/errors.ts';
import { registry, runGraph, scriptEvidence } from '../../../support/run.ts';
import { GLOBAL_PLAN } from '../../../support/reasoners/scripted-reasoner.ts';

const planFor = (
  query_scope: PlannerOutput['query_scope'],
  distortions: PlannerOutput['distortions'] = null,
): PlannerOutput => ({ ...GLOBAL_PLAN, query_scope, distortions });
const car = { name: 'Car', box: [0, 0, 10, 10] };

t.test('scope: boxes ground objects; the rest is about the whole image', async (t) => {
  t.match(resolveScope(GLOBAL_PLAN, []), {
    regions: [{ name: 'Global', box: null }],
    ungrounded: [],
    named: null,
    unused: [],
  });
  t.match(resolveScope(planFor(['the car']), [car]), { regions: [{ name: 'the car', box: car.box }], ungrounded: [] });
  t.match(resolveScope(planFor(['car', 'dog'], { car: ['Blurs'], dog: ['Noise'] }), [car]), {
    regions: [{ name: 'Global' }, { name: 'car' }],
    ungrounded: ['dog'],
    named: { car: ['Blurs'], Global: ['Noise'] },
  });
  t.match(resolveScope(planFor(['dog', 'cat'], { dog: ['Blurs'], cat: ['Blurs', 'Noise'] }), []).named, {
    Global: ['Blurs', 'Noise'],
  });
  t.match(resolveScope(planFor(['car'], { Global: ['Noise'], car: ['Blurs'] }), [car]).regions, [
    { name: 'Global' },
    { name: 'car' },
  ]);
  t.strictSame(resolveScope(GLOBAL_PLAN, [car]).unused, ['Car']);
});

t.test('a failed tool is replaced by the next best, and every attempt is logged', async (t) => {
  const { state } = await runGraph(t, {
    script: {
      plans: [GLOBAL_PLAN],
      examinations: [{ selected_tools: { Global: { Noise: 'BRISQUE', Blurs: 'BRISQUE' } } }],
      summaries: [{}],
    },
    values: { BRISQUE: new Error('crashed'), LiteIQA: new Error('no weights'), NIQE: 4 },
  });
  const { tool_logs: logs = [], quality_scores: scores } = state.executor_evidence ?? {};
  t.match(
    logs.map(({ tool_name, distortion, fallback, error }) => [tool_name, distortion, fallback, error]),
    [
      ['BRISQUE', 'Noise', false, 'crashed'],
      ['BRISQUE', 'Blurs', false, 'crashed'],
      ['LiteIQA', 'Noise', true, 'no weights'],
      ['LiteIQA', 'Blurs', true, 'no weights'],
      ['NIQE', 'Noise', true, null],
      ['NIQE', 'Blurs', true, null],
    ],
  );
  t.match(scores, { Global: { Noise: ['NIQE', Number], Blurs: ['NIQE', Number] } });
  t.strictSame(
    logs.map((log) => log.execution_time > 0),
    [false, false, false, false, true, false],
    'one run serves both, its time is counted once',
  );
});

t.test('when every tool fails there is no score, and none is made up', async (t) => {
  const { state } = await runGraph(t, {
    script: { plans: [GLOBAL_PLAN], examinations: [{}], summaries: [{}] },
    values: {},
  });
  t.equal(state.executor_evidence?.quality_scores, null);
  t.ok(
    state.executor_evidence?.tool_logs.every(
      (log) => log.error !== null && log.raw_score === null && log.normalized_score === null,
    ),
  );
  t.equal(state.quality_score, null);
});

t.test('a subtask that fails leaves null and a log, and the run goes on', async (t) => {
  const { state } = await runGraph(t, {
    script: {
      plans: [GLOBAL_PLAN],
      examinations: [
        { distortion_analysis: null, failures: [{ subtask: 'distortion_analysis', error: new Error('no memory') }] },
      ],
      summaries: [{}],
    },
  });
  t.equal(state.executor_evidence?.distortion_analysis, null);
  t.match(state.executor_evidence?.tool_logs[0], {
    tool_name: 'distortion_analysis',
    error: 'distortion_analysis failed: no memory',
    raw_score: null,
  });
  t.ok(state.executor_evidence?.quality_scores, 'the tools ran all the same');
});

t.test('tool execution that fails as a whole leaves the other subtasks alone', async (t) => {
  const evidence = {
    ...scriptEvidence({}),
    run: () => Promise.reject(new IqaError('IQA_TOOL_FAILED', 'the connection broke')),
  };
  const { state } = await runGraph(t, {
    script: { plans: [GLOBAL_PLAN], examinations: [{}], summaries: [{}] },
    evidence,
  });
  t.match(state.executor_evidence, {
    distortion_set: { Global: ['Noise'] },
    quality_scores: null,
    tool_logs: [{ tool_name: 'tool_execution', error: /the connection broke/ }],
  });
});

t.test('an error contains neither a path nor an address', async (t) => {
  const { state } = await runGraph(t, {
    script: { plans: [new Error("ENOENT: open '/tmp/agentic-iqa-1/secret' at http://10.0.0.7:80/x or 127.0.0.1:99")] },
  });
  t.notMatch(state.error, /secret|10\.0|127\.0/);
});

t.test('evidence with unknown objects or tools becomes a failed executor, not a broken state', async (t) => {
  const { state } = await runGraph(t, {
    script: {
      plans: [GLOBAL_PLAN],
      examinations: [{ selected_tools: { unicorn: { Noise: 'NIQE' } } }],
      summaries: [{}],
    },
  });
  t.match(state.executor_evidence?.tool_logs, [{ error: /unicorn/ }]);
});

const ANALYSED = {
  distortion_set: { Global: ['Noise'] },
  distortion_analysis: { Global: [{ type: 'Noise', severity: 'slight', explanation: 'Grain.' }] },
};
const scope = resolveScope(GLOBAL_PLAN, []);
const find = (evidence: object, tools = registry) =>
  findGaps(GLOBAL_PLAN, parse(ExecutorOutput, evidence), scope, tools);
const gaps = (evidence: object) => find(evidence).map(formatGap);

t.test('gaps are described exactly; complete evidence has none', async (t) => {
  t.strictSame(gaps({ ...ANALYSED, quality_scores: { Global: { Noise: ['NIQE', 4] } } }), []);
  t.strictSame(gaps(ANALYSED), ['Missing tool scores for Global']);
  t.strictSame(gaps({}), [
    'Missing distortions for Global',
    'Missing distortion analysis for Global',
    'Missing tool scores for Global',
  ]);
  t.strictSame(findGaps({ ...GLOBAL_PLAN, query_type: 'Other' }, parse(ExecutorOutput, {}), scope, registry), []);
  const vehicle = {
    ...planFor(['vehicle'], { vehicle: ['Blurs'] }),
    plan: { ...GLOBAL_PLAN.plan, distortion_detection: false },
  };
  const grounded = resolveScope(vehicle, [{ name: 'vehicle', box: [0, 0, 9, 9] }]);
  t.strictSame(
    findGaps(
      vehicle,
      parse(ExecutorOutput, {
        distortion_analysis: { vehicle: [{ type: 'Blurs', severity: 'none', explanation: 'x' }] },
      }),
      grounded,
      registry,
    ),
    [{ kind: 'missing_scores', region: 'vehicle', distortions: [] }],
  );
  t.equal(
    formatGap({ kind: 'missing_scores', region: 'vehicle', distortions: ['Noise'] }),
    'Missing tool scores for vehicle region (Noise)',
  );
});

t.test('scores that contradict the analysis are a gap; a learned fusion is not contradicted', async (t) => {
  const conflict = {
    distortion_set: { Global: ['Noise'] },
    distortion_analysis: { Global: [{ type: 'Noise', severity: 'extreme', explanation: 'x' }] },
    quality_scores: { Global: { Noise: ['NIQE', 4.9] } },
  };
  t.strictSame(find(conflict), [{ kind: 'contradicted_tool', region: 'Global', tool: 'NIQE' }]);
  t.strictSame(gaps(conflict), ['Contradicting analysis and tool scores for Global']);
  t.strictSame(find(conflict, { ...registry, isFusion: () => true }), []);
});

t.test("the text of a replan request: gaps, then the model's reason, each once", async (t) => {
  const gap = { kind: 'missing_distortions', region: 'Global' } as const;
  t.equal(formatReplanReason({ gaps: [], modelReason: null }), null);
  t.equal(formatReplanReason({ gaps: [gap, gap], modelReason: null }), 'Missing distortions for Global');
  t.equal(formatReplanReason({ gaps: [gap], modelReason: 'Too dark' }), 'Missing distortions for Global; Too dark');
});
