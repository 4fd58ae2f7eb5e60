// The record of a failed planner attempt: its fields, and the factory that makes it from whatever was thrown.
import t from 'tap';
import { examplesOf, jsonSchemaOf, parse, serialize, ValidationError } from '../../../schemas/validation/model.ts';
import { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { PlannerError } from '../../../schemas/pipeline/planner-error.ts';
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
  PlannerError.fromException(exception, { attempt, backend: 'embedded', now: NOW });
const typeOf = (exception: unknown) => record(exception).error_type;

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
  t.equal(typeOf(refusal(PlannerOutput, {})), 'validation_error');
  t.equal(typeOf(new ValidationError('PlannerOutput', [])), 'validation_error');
  t.equal(typeOf(new SyntaxError('Unexpected token')), 'validation_error', 'text that is no JSON');
  t.equal(typeOf(new DOMException('Too slow', 'TimeoutError')), 'timeout_error', 'AbortSignal.timeout');
  t.equal(typeOf(new DOMException('Stopped', 'AbortError')), 'timeout_error');
  t.equal(typeOf(Object.assign(new Error('Bad gateway'), { status: 502 })), 'api_error');
  t.equal(typeOf(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })), 'api_error');
  t.equal(typeOf(new TypeError('x is not a function')), 'internal_error');
  t.equal(typeOf(new RangeError('out of range')), 'internal_error');
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
t.test('the record is logged, as one warning', async (t) => {
  const lines: { fields: object; message: string }[] = [];
  const made = PlannerError.fromException(new Error('broken'), {
    attempt: 2,
    backend: 'embedded',
    log: { warn: (fields, message) => void lines.push({ fields, message }) },
  });
  t.strictSame(lines, [{ fields: { planner_error: made }, message: 'Planner attempt failed' }]);
});

// Scenario: state-models / Retry metadata tracking
t.test('without a given time the record is stamped now', async (t) => {
  const before = Date.now();
  const { timestamp } = PlannerError.fromException(new Error('broken'), { attempt: 1, backend: 'embedded' });
  t.ok(Date.parse(timestamp) >= before && Date.parse(timestamp) <= Date.now());
  t.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

t.test('whatever is thrown is recorded', async (t) => {
  t.match(record('a string'), { error_type: 'internal_error', message: 'a string' });
  t.match(record(undefined), { message: 'undefined' });
  t.match(record(null), { message: 'null' });
  t.match(record(42), { message: '42' });
  t.match(record(Symbol('odd')), { message: 'Symbol(odd)' });
  t.match(record({ message: 'x' }), { error_type: 'internal_error' });
  t.match(record(new Error('')), { message: 'Error' }, 'an empty message falls back to the name');
});

t.test('a thrown value that has no text is recorded too', async (t) => {
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

t.test('the factory is no part of the published schema, and the example is a record', async (t) => {
  t.notOk(JSON.stringify(jsonSchemaOf(PlannerError)).includes('fromException'));
  t.strictSame(
    Object.keys(PlannerError).filter((key) => key === 'fromException'),
    [],
  );
  for (const example of examplesOf(PlannerError)) t.strictSame(parse(PlannerError, example), example);
  t.equal(serialize(PlannerError, record(new Error('broken'))), JSON.stringify(record(new Error('broken'))));
});
