// The executor's models: severity of a distortion, tool log, evidence.
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { DistortionAnalysis, ExecutorOutput, ToolExecutionLog } from '../../../schemas/pipeline/executor.ts';
import { buildJsonSchema, parse, parseJson, ValidationError } from '../../../schemas/validation/model.ts';
import { examplesOf, serialize } from '../../support/schemas/models.ts';
import { DISTORTION_CATEGORIES, SEVERITIES } from '../../../schemas/vocabulary.ts';
import { checkField, checkRequired, onlyIssue, refusal, refusedPaths } from '../../support/schemas/refusal.ts';

const ANALYSIS = { type: 'Blurs', severity: 'moderate', explanation: 'Edges are 4.1 px wide.' };
const LOG = {
  tool_name: 'NIQE',
  object_name: 'vehicle',
  distortion: 'Noise',
  raw_score: 3.42,
  normalized_score: 4.1,
  execution_time: 0.021,
  fallback: true,
  error: null,
  timestamp: '2026-11-17T08:00:00.000Z',
};
const EVIDENCE = {
  distortion_set: { vehicle: ['Blurs', 'Noise'], Global: [] },
  distortion_analysis: { vehicle: [ANALYSIS] },
  selected_tools: { vehicle: { Blurs: 'NIQE', Noise: 'BRISQUE' } },
  quality_scores: { vehicle: { Blurs: ['NIQE', 4.1] }, Global: { 'Color distortions': ['BRISQUE', 1] } },
  tool_logs: [LOG],
};
const NOTHING = {
  distortion_set: null,
  distortion_analysis: null,
  selected_tools: null,
  quality_scores: null,
  tool_logs: [],
};
const NO_SCORES = [NaN, Infinity, -Infinity, '3', true, []];

// Scenario: executor-state-models / DistortionAnalysis structure
t.test('DistortionAnalysis: three required fields', async (t) => {
  checkRequired(t, DistortionAnalysis, ANALYSIS, ['type', 'severity', 'explanation']);
  checkField(t, 'type', {
    schema: DistortionAnalysis,
    base: ANALYSIS,
    accepts: DISTORTION_CATEGORIES,
    refuses: ['blurs', 'Fog', '', null, 1],
  });
  t.strictSame(refusedPaths(DistortionAnalysis, { ...ANALYSIS, confidence: 1 }), ['/confidence']);
});

// Scenario: executor-state-models / Validate severity levels
t.test('DistortionAnalysis: five severities', async (t) => {
  t.strictSame(SEVERITIES, ['none', 'slight', 'moderate', 'severe', 'extreme']);
  checkField(t, 'severity', {
    schema: DistortionAnalysis,
    base: ANALYSIS,
    accepts: SEVERITIES,
    refuses: ['Severe', 'mild', '', ' none', null, 3],
  });
  t.equal(
    onlyIssue(DistortionAnalysis, { ...ANALYSIS, severity: 'mild' }).message,
    'Expected one of "none", "slight", "moderate", "severe", "extreme" for /severity but received "mild"',
  );
});

// Scenario: executor-state-models / Validate explanation is non-empty
t.test('DistortionAnalysis: the explanation is not blank', async (t) => {
  checkField(t, 'explanation', {
    schema: DistortionAnalysis,
    base: ANALYSIS,
    accepts: ['x', ' padded '],
    refuses: ['', ' ', '\n\t', '\u00a0', null, 1],
  });
});

// Scenario: executor-state-models / ToolExecutionLog structure
t.test('ToolExecutionLog: every field, and the defaults', async (t) => {
  const cases = { schema: ToolExecutionLog, base: LOG };
  for (const field of ['tool_name', 'object_name', 'distortion'])
    checkField(t, field, { ...cases, accepts: ['x', 'Global'], refuses: ['', ' ', null, 1] });
  checkField(t, 'raw_score', { ...cases, accepts: [0, -3.5, 1e9, null], refuses: NO_SCORES });
  checkField(t, 'fallback', { ...cases, accepts: [true, false], refuses: ['true', 1, null] });
  checkField(t, 'error', { ...cases, accepts: [null, 'timeout'], refuses: [1, {}, false] });
  checkField(t, 'timestamp', { ...cases, accepts: ['2026-11-17T08:00:00.000Z'], refuses: ['now', '', null, 1] });
  checkRequired(t, ToolExecutionLog, LOG, ['tool_name', 'object_name', 'distortion', 'execution_time', 'timestamp']);
  const { tool_name, object_name, distortion, execution_time, timestamp } = LOG;
  t.match(parse(ToolExecutionLog, { tool_name, object_name, distortion, execution_time, timestamp }), {
    fallback: false,
    error: null,
    raw_score: null,
    normalized_score: null,
  });
  t.strictSame(refusedPaths(ToolExecutionLog, { ...LOG, score: 1 }), ['/score']);
});

// Scenario: executor-state-models / Validate score ranges
t.test('ToolExecutionLog: scores from 1 to 5, times from 0', async (t) => {
  const cases = { schema: ToolExecutionLog, base: LOG };
  checkField(t, 'normalized_score', {
    ...cases,
    accepts: [1, 5, 2.5, null],
    refuses: [0.999, 5.001, 0, -1, ...NO_SCORES],
  });
  checkField(t, 'execution_time', { ...cases, accepts: [0, 0.5, 3600], refuses: [-0.001, null, ...NO_SCORES] });
  t.strictSame(refusedPaths(ToolExecutionLog, { ...LOG, normalized_score: 6, execution_time: -1 }), [
    '/normalized_score',
    '/execution_time',
  ]);
});

// Scenario: executor-state-models / Record failed executions
t.test(
  'ToolExecutionLog: a failed run has its error, null for scores, and says whether it was a fallback',
  async (t) => {
    const failed = {
      ...LOG,
      raw_score: null,
      normalized_score: null,
      error: 'NIQE took longer than 30000 ms',
      fallback: false,
    };
    t.strictSame(parse(ToolExecutionLog, failed), failed);
    t.strictSame(
      parseJson(ToolExecutionLog, serialize(ToolExecutionLog, parse(ToolExecutionLog, failed))),
      failed,
      'unlike NaN, null survives JSON',
    );
    t.equal(parse(ToolExecutionLog, { ...failed, fallback: true }).fallback, true);
  },
);

// Scenario: executor-state-models / ExecutorOutput structure
t.test('ExecutorOutput: everything is null or empty by default', async (t) => {
  t.strictSame(parse(ExecutorOutput, {}), NOTHING);
  t.strictSame(parse(ExecutorOutput, NOTHING), NOTHING);
  t.strictSame(parse(ExecutorOutput, EVIDENCE), EVIDENCE);
  t.strictSame(refusedPaths(ExecutorOutput, { ...EVIDENCE, notes: [] }), ['/notes']);
  checkField(t, 'tool_logs', {
    schema: ExecutorOutput,
    base: EVIDENCE,
    accepts: [[], [LOG, LOG]],
    refuses: [null, {}, [null], [{}], LOG],
  });
});

// Scenario: executor-state-models / Validate distortion_set structure
t.test('ExecutorOutput: distortion_set', async (t) => {
  checkField(t, 'distortion_set', {
    schema: ExecutorOutput,
    base: EVIDENCE,
    accepts: [null, {}, { Global: [...DISTORTION_CATEGORIES] }, { 'left wheel': [] }],
    refuses: [
      [],
      'Blurs',
      { Global: 'Blurs' },
      { Global: ['Fog'] },
      { Global: [1] },
      { '': ['Blurs'] },
      { ' ': ['Blurs'] },
      { Global: null },
    ],
  });
  t.equal(
    onlyIssue(ExecutorOutput, { distortion_set: { Global: ['Blurs', 'Fog'] } }).message,
    `Expected one of ${DISTORTION_CATEGORIES.map((category) => `"${category}"`).join(', ')} for /distortion_set/Global/1 but received "Fog"`,
  );
});

// Scenario: executor-state-models / Validate distortion_analysis structure
// Scenario: executor-state-models / Validate nested structures
t.test('ExecutorOutput: distortion_analysis', async (t) => {
  checkField(t, 'distortion_analysis', {
    schema: ExecutorOutput,
    base: EVIDENCE,
    accepts: [null, {}, { Global: [] }, { Global: [ANALYSIS, ANALYSIS] }],
    refuses: [
      [],
      { Global: ANALYSIS },
      { Global: ['Blurs'] },
      { Global: [{}] },
      { ' ': [ANALYSIS] },
      { Global: [{ ...ANALYSIS, extra: 1 }] },
    ],
  });
  t.strictSame(
    refusedPaths(ExecutorOutput, {
      distortion_analysis: {
        a: [ANALYSIS, { ...ANALYSIS, type: 'Fog', severity: 'mild' }],
        b: [{ ...ANALYSIS, explanation: ' ' }],
      },
    }),
    ['/distortion_analysis/a/1/type', '/distortion_analysis/a/1/severity', '/distortion_analysis/b/0/explanation'],
  );
});

// Scenario: executor-state-models / Validate selected_tools structure
t.test('ExecutorOutput: selected_tools names tools of the registry', async (t) => {
  checkField(t, 'selected_tools', {
    schema: ExecutorOutput,
    base: EVIDENCE,
    accepts: [
      null,
      {},
      { Global: {} },
      { Global: Object.fromEntries(DISTORTION_CATEGORIES.map((category) => [category, 'NIQE'])) },
    ],
    refuses: [
      [],
      { Global: 'NIQE' },
      { Global: { Fog: 'NIQE' } },
      { Global: { 'Blurs ': 'NIQE' } },
      { Global: { Blurs: '' } },
      { Global: { Blurs: ['NIQE'] } },
      { ' ': {} },
    ],
  });
  t.doesNotThrow(() => parse(ExecutorOutput, EVIDENCE, { knownTools: new Set(['NIQE', 'BRISQUE']) }));
  const { issues } = refusal(ExecutorOutput, EVIDENCE, { knownTools: new Set(['SSIM']) });
  t.strictSame(
    issues.map(({ path, expected, received }) => [path, expected, received]),
    [
      ['/selected_tools/vehicle/Blurs', 'a tool of the registry', '"NIQE"'],
      ['/selected_tools/vehicle/Noise', 'a tool of the registry', '"BRISQUE"'],
    ],
  );
  t.doesNotThrow(() => parse(ExecutorOutput, NOTHING, { knownTools: new Set() }));
});

// Scenario: executor-state-models / Validate quality_scores structure
t.test('ExecutorOutput: quality_scores are pairs of tool and score', async (t) => {
  const pair = (value: unknown) => ({ Global: { Noise: value } });
  checkField(t, 'quality_scores', {
    schema: ExecutorOutput,
    base: EVIDENCE,
    accepts: [null, {}, { Global: {} }, pair(['NIQE', 1]), pair(['NIQE', 5]), pair(['NIQE', 2.25])],
    refuses: [
      [],
      pair([]),
      pair(['NIQE']),
      pair(['NIQE', 4, 4]),
      pair([4, 'NIQE']),
      pair(['', 4]),
      pair([' ', 4]),
      pair({ tool: 'NIQE', score: 4 }),
      pair(null),
      pair(4),
      pair(['NIQE', 0.99]),
      pair(['NIQE', 5.01]),
      pair(['NIQE', null]),
      ...NO_SCORES.map((score) => pair(['NIQE', score])),
      { Global: { Fog: ['NIQE', 4] } },
      { ' ': {} },
    ],
  });
  t.equal(
    onlyIssue(ExecutorOutput, { quality_scores: pair(['NIQE', 9]) }).message,
    'Expected a number from 1 to 5 for /quality_scores/Global/Noise/1 but received 9',
  );
  t.equal(
    onlyIssue(ExecutorOutput, { quality_scores: pair(['NIQE']) }).expected,
    '[a non-blank string, a number from 1 to 5]',
  );
});

// Scenario: executor-state-models / Validate distortion_set structure
// Scenario: executor-state-models / Validate distortion_analysis structure
// Scenario: executor-state-models / Validate selected_tools structure
// Scenario: executor-state-models / Validate quality_scores structure
t.test('ExecutorOutput: keys are objects of the plan or "Global", if the plan is known', async (t) => {
  t.doesNotThrow(() => parse(ExecutorOutput, EVIDENCE, { objects: ['vehicle'] }), '"Global" is always one');
  t.strictSame(refusedPaths(ExecutorOutput, EVIDENCE, { objects: ['sky'] }), [
    '/distortion_set/vehicle',
    '/distortion_analysis/vehicle',
    '/selected_tools/vehicle',
    '/quality_scores/vehicle',
  ]);
  t.equal(
    onlyIssue(ExecutorOutput, { distortion_set: { car: [] } }, { objects: ['sky', 'vehicle'] }).message,
    'Expected an object of the query scope (Global, sky, vehicle) for /distortion_set/car but received "car"',
  );
  t.strictSame(
    refusedPaths(ExecutorOutput, EVIDENCE, { objects: [], knownTools: new Set() }).length,
    6,
    'both rules report',
  );
});

t.test('ExecutorOutput: the paths of these issues are escaped JSON Pointers', async (t) => {
  const evidence = { distortion_set: { 'left/right': [] }, selected_tools: { 'a~b': { Noise: 'NIQE' } } };
  t.strictSame(refusedPaths(ExecutorOutput, evidence, { objects: [] }), [
    '/distortion_set/left~1right',
    '/selected_tools/a~0b',
  ]);
  t.strictSame(refusedPaths(ExecutorOutput, evidence, { knownTools: new Set() }), ['/selected_tools/a~0b/Noise']);
});

// Scenario: executor-state-models / Serialize ExecutorOutput to JSON
t.test('ExecutorOutput: serialized with nested models, ISO date-times and null', async (t) => {
  const text = serialize(
    ExecutorOutput,
    parse(ExecutorOutput, {
      distortion_analysis: { Global: [ANALYSIS] },
      tool_logs: [{ ...LOG, timestamp: new Date('2026-11-17T10:00:00+02:00') }],
    }),
  );
  t.strictSame(JSON.parse(text), { ...NOTHING, distortion_analysis: { Global: [ANALYSIS] }, tool_logs: [LOG] });
  t.match(text, '"timestamp":"2026-11-17T08:00:00.000Z"');
  t.match(text, '"selected_tools":null');
});

// Scenario: executor-state-models / Deserialize ExecutorOutput from JSON
t.test('ExecutorOutput: parsed from JSON, or refused', async (t) => {
  const offset = { ...EVIDENCE, tool_logs: [{ ...LOG, timestamp: '2026-11-17T10:00:00+02:00' }] };
  t.strictSame(parseJson(ExecutorOutput, JSON.stringify(offset)), EVIDENCE);
  for (const text of [
    '',
    '[]',
    'null',
    '{"tool_logs":null}',
    '{"tool_logs":[{"tool_name":"NIQE"}]}',
    '{"distortion_set":{"Global":["Fog"]}}',
    '{"tool_logs":',
  ]) {
    t.throws(() => parseJson(ExecutorOutput, text), ValidationError, text);
  }
});

// Scenario: executor-state-models / Round-trip serialization
t.test('ExecutorOutput: serializing and parsing keep it unchanged', async (t) => {
  for (const value of [EVIDENCE, NOTHING, ...examplesOf(ExecutorOutput)]) {
    const evidence = parse(ExecutorOutput, value);
    const read = parseJson(ExecutorOutput, serialize(ExecutorOutput, evidence));
    t.strictSame(read, evidence);
    t.ok(isDeepStrictEqual(read, evidence));
  }
  const fine = {
    ...NOTHING,
    tool_logs: [{ ...LOG, raw_score: 0.1 + 0.2, normalized_score: 1 + Number.EPSILON, execution_time: 5e-324 }],
  };
  t.strictSame(
    parseJson(ExecutorOutput, serialize(ExecutorOutput, parse(ExecutorOutput, fine))),
    fine,
    'to the last bit',
  );
});

// Scenario: executor-state-models / Validate field types
t.test('a wrong type is reported with its field and the type expected', async (t) => {
  const { issues } = refusal(ToolExecutionLog, {
    ...LOG,
    tool_name: 1,
    raw_score: 'high',
    execution_time: '1',
    fallback: 'no',
    error: {},
    timestamp: 0,
  });
  t.strictSame(Object.fromEntries(issues.map(({ path, expected }) => [path, expected])), {
    '/tool_name': 'a non-blank string',
    '/raw_score': 'a number or null',
    '/execution_time': 'a number of at least 0',
    '/fallback': 'true or false',
    '/error': 'a string or null',
    '/timestamp': 'an ISO 8601 date-time',
  });
  t.equal(onlyIssue(ExecutorOutput, { distortion_set: 5 }).expected, 'an object or null');
});

// Scenario: executor-state-models / Validate nested structures
// Scenario: executor-state-models / Custom validators for domain constraints
t.test('categories, severities and ranges are checked at every depth, all in one error', async (t) => {
  const { issues } = refusal(ExecutorOutput, {
    distortion_set: { Global: ['Fog'], sky: ['Blurs', 'Rain'] },
    distortion_analysis: { Global: [{ type: 'Fog', severity: 'mild', explanation: '' }] },
    selected_tools: { Global: { Fog: 'NIQE', Noise: ' ' } },
    quality_scores: { Global: { Noise: ['NIQE', 0] } },
    tool_logs: [LOG, { ...LOG, normalized_score: 5.5, execution_time: -1, timestamp: 'now' }],
  });
  t.strictSame(
    issues.map(({ path }) => path),
    [
      '/distortion_set/Global/0',
      '/distortion_set/sky/1',
      '/distortion_analysis/Global/0/type',
      '/distortion_analysis/Global/0/severity',
      '/distortion_analysis/Global/0/explanation',
      '/selected_tools/Global/Fog',
      '/selected_tools/Global/Noise',
      '/quality_scores/Global/Noise/1',
      '/tool_logs/1/normalized_score',
      '/tool_logs/1/execution_time',
      '/tool_logs/1/timestamp',
    ],
  );
  t.ok(issues.every(({ message }) => /^(Expected|Unexpected) /.test(message)));
});

t.test('the examples are complete values', async (t) => {
  for (const schema of [DistortionAnalysis, ToolExecutionLog, ExecutorOutput]) {
    t.ok(examplesOf(schema).length > 0);
    t.strictSame(buildJsonSchema(schema)['examples'], examplesOf(schema));
    for (const example of examplesOf(schema)) t.strictSame(parse(schema, example), example);
  }
});
