// The record of a failed planner attempt: its fields, and how it is built from anything thrown.
import t from 'tap';
import { parse, ValidationError } from '../../../schemas/validation/model.ts';
import { examplesOf } from '../../support/schemas/models.ts';
import { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { buildPlannerError, PlannerError } from '../../../schemas/pipeline/planner-error.ts';
import { checkField, checkRequired, refusal, refusedPaths } from '../../support/schemas/refusal.ts';

const RECORD = {
  error_type: 'api_error',
  message: 'The model did not answer',
  details: { exception_type: 'Error', attempt: 2, backend: 'openai.gpt-4o' },
  retry_count: 1,
  timestamp: '2026-11-17T08:00:00.000Z',
};
const NOW = new Date('2026-11-17T10:00:00+02:00');
const record = (exception: unknown, attempt = 1) =>
  buildPlannerError(exception, { attempt, backend: 'embedded', now: NOW });
const classify = (exception: unknown) => record(exception).error_type;

// Scenario: state-models / PlannerError model
t.test('every field', async (t) => {
  const cases = { schema: PlannerError, base: RECORD };
  checkField(t, 'error_type', {
    ...cases,
    accepts: ['validation_error', 'api_error', 'timeout_error'],
    refuses: ['', ' ', null, 1],
  });
  checkField(t, 'message', { ...cases, accepts: ['', 'text'], refuses: [null, 1, []] });
  checkField(t, 'details', { ...cases, accepts: [null, {}, { any: [1, { thing: null }] }], refuses: [[], 'text', 1] });
  checkField(t, 'retry_count', { ...cases, accepts: [0, 1, 100], refuses: [-1, 0.5, '1', null, NaN, Infinity] });
  checkField(t, 'timestamp', { ...cases, accepts: ['2026-11-17T08:00:00.000Z'], refuses: ['yesterday', '', null, 0] });
  checkRequired(t, PlannerError, RECORD, ['error_type', 'message', 'retry_count', 'timestamp']);
  t.strictSame(refusedPaths(PlannerError, { ...RECORD, stack: 'Error: …' }), ['/stack']);
  t.equal(parse(PlannerError, { ...RECORD, timestamp: NOW }).timestamp, '2026-11-17T08:00:00.000Z');
});

// Scenario: state-models / PlannerError model
t.test('the kind of the exception decides the type of the error', async (t) => {
  t.equal(classify(refusal(PlannerOutput, {})), 'validation_error');
  t.equal(classify(new ValidationError('PlannerOutput', [])), 'validation_error');
  t.equal(classify(new SyntaxError('Unexpected token')), 'validation_error', 'text that is not JSON');
  t.equal(classify(new DOMException('Too slow', 'TimeoutError')), 'timeout_error', 'AbortSignal.timeout');
  t.equal(classify(new DOMException('Stopped', 'AbortError')), 'timeout_error');
  t.equal(classify(Object.assign(new Error('Bad gateway'), { status: 502 })), 'api_error');
  t.equal(classify(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })), 'api_error');
  t.equal(classify(new TypeError('x is not a function')), 'internal_error');
  t.equal(classify(new RangeError('out of range')), 'internal_error');
});

// Scenario: state-models / PlannerError model
// Scenario: state-models / Retry metadata tracking
t.test('the record holds exception, attempt, time and back end', async (t) => {
  for (const attempt of [1, 2, 3]) {
    t.strictSame(
      record(new RangeError('out of range'), attempt),
      parse(PlannerError, {
        error_type: 'internal_error',
        message: 'out of range',
        details: { exception_type: 'RangeError', attempt, backend: 'embedded' },
        retry_count: attempt - 1,
        timestamp: '2026-11-17T08:00:00.000Z',
      }),
    );
  }
  t.match(
    record(refusal(PlannerOutput, { query_type: 'INVALID' })).message,
    'Expected one of "IQA", "Other" for /query_type but received "INVALID"',
  );
});

// Scenario: state-models / Retry metadata tracking
t.test('the timestamp defaults to now', async (t) => {
  const before = Date.now();
  const { timestamp } = buildPlannerError(new Error('broken'), { attempt: 1, backend: 'embedded' });
  t.ok(Date.parse(timestamp) >= before && Date.parse(timestamp) <= Date.now());
  t.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

t.test('any thrown value is recorded', async (t) => {
  t.match(record('a string'), { error_type: 'internal_error', message: 'a string' });
  t.match(record(undefined), { message: 'undefined' });
  t.match(record(null), { message: 'null' });
  t.match(record(42), { message: '42' });
  t.match(record(Symbol('odd')), { message: 'Symbol(odd)' });
  t.match(record({ message: 'x' }), { error_type: 'internal_error' });
  t.match(record(new Error('')), { message: 'Error' }, 'an empty message falls back to the name');
});

t.test('a thrown value that cannot be converted to text is recorded too', async (t) => {
  t.match(record(Object.create(null)), { error_type: 'internal_error' });
  t.match(
    record({
      toString: () => {
        throw new Error('no text');
      },
    }),
    { error_type: 'internal_error' },
  );
});

t.test('attempts are counted from 1', async (t) => {
  t.throws(() => record(new Error('broken'), 0), ValidationError);
  t.throws(() => record(new Error('broken'), 1.5), ValidationError);
});

t.test('the example is a record', async (t) => {
  for (const example of examplesOf(PlannerError)) t.strictSame(parse(PlannerError, example), example);
});
