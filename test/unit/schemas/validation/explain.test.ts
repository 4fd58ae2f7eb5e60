// Explanations of invalid values: one sentence per issue, and one for every value that the validator refuses.
import fc from 'fast-check';
import t from 'tap';
import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { explain, issue } from '../../../../schemas/validation/explain.ts';
import { ByCategory, ByObject, NonBlank, Nullable, Score, Timestamp } from '../../../../schemas/vocabulary.ts';
import { GENERATORS } from '../../../support/schemas/generators.ts';
import { mutate } from '../../../support/schemas/mutations.ts';
import { shown } from '../../../support/schemas/refusal.ts';

const listExpected = (schema: TSchema, value: unknown): string[] =>
  explain(schema, value).map(({ expected }) => expected);
const listPaths = (schema: TSchema, value: unknown): string[] => explain(schema, value).map(({ path }) => path);

// Scenario: executor-state-models / Validate field types
t.test('the sentence for each kind of expectation', async (t) => {
  const cases: [TSchema, unknown, string][] = [
    [Type.String(), 1, 'a string'],
    [Type.String({ minLength: 1 }), '', 'a string of at least 1 characters'],
    [Type.String({ maxLength: 2 }), 'abc', 'a string of at most 2 characters'],
    [Type.String({ minLength: 2, maxLength: 3 }), 'a', 'a string from 2 to 3 characters'],
    [Type.String({ pattern: '^a' }), 'b', 'a string that matches ^a'],
    [NonBlank('Text.'), ' \n', 'a non-blank string'],
    [NonBlank('Text.', { maxLength: 5 }), '', 'a non-blank string of at most 5 characters'],
    [Timestamp('When.'), 'soon', 'an ISO 8601 date-time'],
    [Type.Boolean(), 'true', 'true or false'],
    [Type.Null(), 0, 'null'],
    [Type.Integer(), 1.5, 'an integer'],
    [Type.Integer({ minimum: 0 }), -1, 'an integer of at least 0'],
    [Type.Number({ maximum: 1 }), 2, 'a number of at most 1'],
    [Score('Score.'), 5.01, 'a number from 1 to 5'],
    [Type.Literal('Global'), 'global', '"Global"'],
    [Type.Enum(['IQA', 'Other']), 'iqa', 'one of "IQA", "Other"'],
    [Type.Array(Type.String()), 'a', 'an array of strings'],
    [Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }), [1], 'an array of numbers of 2 items'],
    [Type.Object({}), [], 'an object'],
    [Nullable(Type.String(), 'Text.'), 1, 'a string or null'],
  ];
  for (const [schema, value, expected] of cases) t.strictSame(listExpected(schema, value), [expected], expected);
});

t.test('received: the value as JSON, truncated if long', async (t) => {
  const received = (value: unknown) => issue('/a', 'x', value).received;
  t.equal(received(undefined), 'nothing');
  t.equal(received(null), 'null');
  t.equal(received('a "b"'), '"a \\"b\\""');
  t.equal(received(NaN), 'NaN');
  t.equal(received(-Infinity), '-Infinity');
  t.equal(received({ a: [1] }), '{"a":[1]}');
  t.equal(
    received(() => 1),
    'function',
  );
  t.equal(received('x'.repeat(500)).length, 80);
  t.equal(issue('', 'an object', 1).message, 'Expected an object for the document but received 1');
  t.equal(issue('/a', 'an object', 1, 'In my own words').message, 'In my own words');
});

t.test('limits hold at both ends', async (t) => {
  for (const value of [1, 5, 3.3]) t.strictSame(explain(Score('Score.'), value), [], String(value));
  for (const value of [0.999, 5.001, NaN, Infinity, -Infinity, '3', null])
    t.equal(explain(Score('Score.'), value).length, 1, String(value));
  t.strictSame(explain(Type.Array(Type.Null(), { minItems: 1, maxItems: 2 }), [null]), []);
  t.strictSame(explain(Type.Array(Type.Null(), { minItems: 1, maxItems: 2 }), [null, null]), []);
  t.strictSame(explain(Type.String({ minLength: 1, maxLength: 2 }), 'ab'), []);
});

t.test('length counts characters as JSON Schema does, not UTF-16 units', async (t) => {
  t.strictSame(explain(Type.String({ maxLength: 2 }), '😀😀'), []);
  t.equal(explain(Type.String({ minLength: 2 }), '😀').length, 1);
});

t.test('a union is explained by the branch that has the shape of the value', async (t) => {
  const scope = Type.Union([Type.Array(NonBlank('Name.'), { minItems: 1 }), Type.Literal('Global')]);
  t.strictSame(listPaths(scope, ['a', 1, ' ']), ['/1', '/2']);
  t.strictSame(listExpected(scope, 'car'), ['an array of strings of at least 1 items or "Global"']);
  t.strictSame(listExpected(scope, []), ['an array of strings of at least 1 items or "Global"']);
  const person = Nullable(Type.Object({ name: Type.String(), age: Type.Integer() }), 'Who.');
  t.strictSame(listPaths(person, { name: 1 }), ['/age', '/name']);
  t.strictSame(listExpected(person, 'Ann'), ['an object or null']);
  t.strictSame(explain(person, null), []);
});

t.test('a union of tagged objects is explained by the branch with the tag', async (t) => {
  const event = Type.Union([
    Type.Object({ event: Type.Literal('tool'), value: Type.Number() }),
    Type.Object({ event: Type.Literal('end'), time: Type.Number() }),
  ]);
  t.strictSame(listPaths(event, { event: 'tool', value: 'x' }), ['/value']);
  t.strictSame(listPaths(event, { event: 'end' }), ['/time']);
  t.match(
    explain(event, { event: 'other' })
      .map(({ message }) => message)
      .join(),
    '"other"',
    'an unknown tag is shown',
  );
});

t.test('paths are JSON Pointers, escaped', async (t) => {
  const schema = ByObject(Type.Array(Type.Integer()), 'By name.');
  t.strictSame(listPaths(schema, { 'left/right': ['x'], 'a~b': [1, 'x'], '': [] }), ['/left~1right/0', '/a~0b/1', '/']);
});

t.test('keys: missing, unknown, of the wrong form', async (t) => {
  const closed = Type.Object({ a: Type.Integer(), b: Type.Optional(Type.Integer()) }, { additionalProperties: false });
  t.strictSame(explain(closed, { c: 1 }), [
    {
      path: '/a',
      expected: 'an integer',
      received: 'nothing',
      message: 'Expected an integer for /a but received nothing',
    },
    {
      path: '/c',
      expected: 'only the fields a, b',
      received: '1',
      message: 'Unexpected /c: expected only the fields a, b',
    },
  ]);
  t.strictSame(explain(Type.Object({ a: Type.Integer() }), { a: 1, c: 1 }), [], 'an open object takes any key');
  t.strictSame(listExpected(ByObject(Type.Integer(), 'By name.'), { ' ': 1 }), ['non-blank keys']);
  t.match(
    listExpected(ByCategory(Type.Integer(), 'By category.'), { Fog: 1 })[0],
    /^keys that match .*Blurs\|Color distortions/,
  );
  t.strictSame(explain(Type.Record(Type.String(), Type.Unknown()), { '': null, a: [undefined] }), []);
});

// Scenario: executor-state-models / Validate nested structures
t.test('a value is explained exactly if the validator refuses it', async (t) => {
  for (const { name, schema, values: arbitrary } of GENERATORS) {
    const validator = Compile(schema);
    const values = fc.sample(arbitrary, { seed: 3, numRuns: 12 }).flatMap((value) => [value, ...mutate(value)]);
    const disagreeing = values.filter((value) => validator.Check(value) !== (explain(schema, value).length === 0));
    t.strictSame(disagreeing.slice(0, 3).map(shown), [], `${name}: ${values.length} values`);
  }
});
