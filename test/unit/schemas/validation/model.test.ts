// Models: copying, defaults, normalisation, rules, hashes and published schemas.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import Type from 'typebox';
import { issue } from '../../../../schemas/validation/explain.ts';
import { hash } from '../../../../schemas/validation/hash.ts';
import {
  buildJsonSchema,
  defineModel,
  parse,
  parseJson,
  ValidationError,
} from '../../../../schemas/validation/model.ts';
import { examplesOf, serialize } from '../../../support/schemas/models.ts';
import { ExecutorOutput, ToolExecutionLog } from '../../../../schemas/pipeline/executor.ts';
import { PlannerInput, PlannerOutput } from '../../../../schemas/pipeline/planner.ts';
import { Nullable, Timestamp } from '../../../../schemas/vocabulary.ts';
import { GENERATORS, RUNS } from '../../../support/schemas/generators.ts';
import { isAccepted, onlyIssue, refusal, refusedPaths } from '../../../support/schemas/refusal.ts';

const Note = defineModel(
  'Note',
  Type.Object(
    {
      text: Type.String({ minLength: 1 }),
      tags: Type.Array(Type.String(), { default: [] }),
      author: Nullable(
        Type.Object(
          { name: Type.String(), since: Nullable(Timestamp('When.'), 'When.') },
          { additionalProperties: false },
        ),
        'Author.',
      ),
      written: Type.Optional(Timestamp('When.')),
    },
    { additionalProperties: false },
  ),
  {
    normalise: (draft, { warn }) => {
      if (typeof draft['text'] === 'string') draft['text'] = draft['text'].trim();
      if (draft['text'] === 'warn') warn?.('warned');
    },
    check: ({ tags }, { knownTools }) =>
      tags.flatMap((tag, index) =>
        knownTools && !knownTools.has(tag) ? [issue(`/tags/${index}`, 'a known tag', tag)] : [],
      ),
    examples: [{ text: 'hello' }],
  },
);

// Scenario: state-models / PlannerOutput serialization
// Scenario: executor-state-models / Round-trip serialization
// Scenario: summarizer-state-models / Serialize and deserialize SummarizerOutput
t.test('random valid values of every model survive parsing, serializing and parsing again', async (t) => {
  for (const { name, schema, values } of GENERATORS) {
    const isUnchanged = fc.property(
      values,
      (value) =>
        isDeepStrictEqual(parse(schema, value), value) &&
        isDeepStrictEqual(parseJson(schema, serialize(schema, value)), value),
    );
    t.doesNotThrow(() => {
      fc.assert(isUnchanged, RUNS);
    }, name);
  }
});

// Scenario: state-models / Model comparison and equality
t.test('the hash is by value, whatever the order of the keys', async (t) => {
  for (const { name, values } of GENERATORS) {
    const isByValue = fc.property(values, values, (value, other) => {
      return (
        hash(value) === hash(reverseKeys(value)) && (hash(value) === hash(other)) === isDeepStrictEqual(value, other)
      );
    });
    t.doesNotThrow(() => {
      fc.assert(isByValue, RUNS);
    }, name);
  }
});

function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, reverseKeys(item)]),
  );
}

t.test('the hash depends on every difference that JSON shows', async (t) => {
  const same = (left: unknown, right: unknown) => hash(left) === hash(right);
  t.equal(same({ a: 1 }, { a: 2 }), false);
  t.equal(same({ a: 1 }, { a: '1' }), false);
  t.equal(same({ a: null }, {}), false, 'null is not absent');
  t.equal(same({ a: undefined }, {}), true, 'undefined is absent');
  t.equal(same([1, 2], [2, 1]), false, 'lists are ordered');
  t.equal(same({ a: [] }, { a: {} }), false);
  t.equal(same({ a: { b: 1 } }, { b: { a: 1 } }), false);
  t.equal(same({ b: [{ d: 1, c: 2 }], a: null }, { a: null, b: [{ c: 2, d: 1 }] }), true, 'keys are not');
  t.match(hash({ a: 1 }), /^[0-9a-f]{64}$/);
});

t.test('the input is copied, never changed, and shares nothing with the result', async (t) => {
  const input = { text: '  hello ', tags: ['a'], author: { name: 'Ann', since: new Date('2026-11-17T08:00:00Z') } };
  const before = structuredClone(input);
  const note = parse(Note, input);
  t.strictSame(input, before);
  t.equal(note.text, 'hello', 'normalised');
  note.tags.push('b');
  t.strictSame(input.tags, ['a']);
});

t.test('defaults are filled at every depth and never shared', async (t) => {
  const first = parse(Note, { text: 'x', author: { name: 'Ann' } });
  t.strictSame(first, { tags: [], author: { name: 'Ann', since: null }, text: 'x' });
  first.tags.push('changed');
  t.strictSame(parse(Note, { text: 'x' }).tags, []);
  t.equal('written' in parse(Note, { text: 'x' }), false, 'an optional field stays absent');
  t.equal('written' in parse(Note, { text: 'x', written: undefined }), false, 'undefined is absent');
  t.strictSame(parse(Note, { text: 'x', tags: undefined }).tags, [], 'undefined takes the default');
});

// Scenario: executor-state-models / Serialize ExecutorOutput to JSON
t.test('date-times become ISO 8601 in UTC', async (t) => {
  const utc = (written: unknown) => parse(Note, { text: 'x', written }).written;
  t.equal(utc(new Date('2026-11-17T10:00:00+02:00')), '2026-11-17T08:00:00.000Z', 'a Date');
  t.equal(utc('2026-11-17T10:00:00+02:00'), '2026-11-17T08:00:00.000Z', 'an offset');
  t.equal(utc('2026-11-16T22:30:00.5-09:30'), '2026-11-17T08:00:00.500Z', 'an offset over midnight');
  t.equal(utc('2026-11-17T08:00:00Z'), '2026-11-17T08:00:00.000Z');
  t.equal(utc('2026-11-17t08:00:00z'), '2026-11-17T08:00:00.000Z', 'RFC 3339 allows small letters');
  t.equal(utc('2024-02-29T00:00:00Z'), '2024-02-29T00:00:00.000Z', 'a leap day');
  t.equal(
    parse(Note, { text: 'x', author: { name: 'Ann', since: '2026-11-17T10:00:00+02:00' } }).author?.since,
    '2026-11-17T08:00:00.000Z',
    'inside a union',
  );
  t.match(
    serialize(Note, { text: 'x', tags: [], author: null, written: '2026-11-17T10:00:00+02:00' }),
    '"written":"2026-11-17T08:00:00.000Z"',
  );
});

t.test('serialized keys are in the order of the schema', async (t) => {
  t.equal(
    serialize(Note, { written: '2026-11-17T08:00:00Z', author: { since: null, name: 'Ann' }, tags: [], text: 'x' }),
    '{"text":"x","tags":[],"author":{"name":"Ann","since":null},"written":"2026-11-17T08:00:00.000Z"}',
  );
  for (const { name, schema, values } of GENERATORS) {
    const order = Object.keys((schema as unknown as { properties: object }).properties);
    const isOrdered = fc.property(values, (value) => {
      const keys = Object.keys(JSON.parse(serialize(schema, reverseKeys(value))) as object);
      return isDeepStrictEqual(
        keys,
        order.filter((key) => keys.includes(key)),
      );
    });
    t.doesNotThrow(() => {
      fc.assert(isOrdered, { ...RUNS, numRuns: 20 });
    }, name);
  }
});

// Scenario: executor-state-models / Deserialize ExecutorOutput from JSON
t.test('invalid date-times are refused, with the value in the message', async (t) => {
  for (const written of [
    '',
    'yesterday',
    'Invalid Date',
    '2026-11-17',
    '08:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-17T25:00:00Z',
    '2026-11-17T08:00:00+25:00',
  ]) {
    t.strictSame(
      onlyIssue(Note, { text: 'x', written }),
      issue('/written', 'an ISO 8601 date-time', written),
      `"${written}"`,
    );
  }
  t.equal(onlyIssue(Note, { text: 'x', written: new Date(NaN) }).path, '/written', 'an invalid Date');
  t.equal(onlyIssue(Note, { text: 'x', written: 1_763_366_400_000 }).path, '/written', 'a number');
});

t.test('a day that does not exist is refused, not moved to the next month', async (t) => {
  for (const written of ['2026-02-30T00:00:00Z', '2026-02-29T00:00:00Z', '2026-04-31T00:00:00Z'])
    t.equal(isAccepted(Note, { text: 'x', written }), false, written);
});

t.test('a date-time needs an offset: local time would depend on the machine', async (t) => {
  for (const written of [
    '2026-11-17T08:00:00',
    '2026-11-17 08:00',
    '2026-11-17 08:00 PM',
    '2026-11-17 08:00 (about)',
  ]) {
    t.equal(isAccepted(Note, { text: 'x', written }), false, written);
  }
});

t.test('rules get the context, and a rule whose input is missing is not applied', async (t) => {
  const warnings: string[] = [];
  parse(Note, { text: 'warn' }, { warn: (message) => void warnings.push(message) });
  t.strictSame(warnings, ['warned']);
  t.doesNotThrow(() => parse(Note, { text: 'warn', tags: ['a'] }));
  t.strictSame(refusedPaths(Note, { text: 'x', tags: ['a', 'b', 'c'] }, { knownTools: new Set(['b']) }), [
    '/tags/0',
    '/tags/2',
  ]);
});

t.test('one error lists every invalid field with path, expectation and value', async (t) => {
  const error = refusal(Note, { text: 1, tags: ['a', 2, null], author: { name: 3, age: 4 }, colour: 'red' });
  t.equal(error.name, 'ValidationError');
  t.equal(error.model, 'Note');
  t.strictSame(
    error.issues.map(({ path, expected, received }) => ({ path, expected, received })),
    [
      { path: '/text', expected: 'a string of at least 1 characters', received: '1' },
      { path: '/tags/1', expected: 'a string', received: '2' },
      { path: '/tags/2', expected: 'a string', received: 'null' },
      { path: '/author/name', expected: 'a string', received: '3' },
      { path: '/author/age', expected: 'only the fields name, since', received: '4' },
      { path: '/colour', expected: 'only the fields text, tags, author, written', received: '"red"' },
    ],
  );
  t.equal(error.message, `Invalid Note: ${error.issues.map((found) => found.message).join('; ')}`);
  t.match(error.message, 'Expected a string for /tags/1 but received 2; ');
});

t.test('more than eight issues are all listed', async (t) => {
  const tags = Array.from({ length: 40 }, (_item, index) => index);
  t.strictSame(
    refusedPaths(Note, { text: 'x', tags }),
    tags.map((index) => `/tags/${index}`),
  );
});

t.test('the document itself may be of the wrong type', async (t) => {
  for (const input of [null, undefined, [], 'text', 7, true]) t.strictSame(refusedPaths(Note, input), ['']);
  t.equal(onlyIssue(Note, []).message, 'Expected an object for the document but received []');
});

t.test('text that is not JSON is a ValidationError too', async (t) => {
  for (const text of ['', '{', '{"text": NaN}', "{'text': 1}", 'undefined']) {
    t.throws(
      () => parseJson(Note, text),
      { name: 'ValidationError', model: 'Note', issues: [{ path: '', expected: 'valid JSON' }] },
      text,
    );
  }
  t.throws(() => parseJson(Note, `{${'x'.repeat(10_000)}`), { message: /^.{0,200}$/ }, 'a long text is cut');
});

t.test('values that JSON cannot represent are refused', async (t) => {
  for (const text of [10n, Symbol('x'), () => 'x']) t.strictSame(refusedPaths(Note, { text }), ['/text'], typeof text);
});

t.test('an invalid value is not serialized', async (t) => {
  t.throws(() => serialize(Note, { text: '', tags: [], author: null }), ValidationError);
  t.throws(
    () =>
      serialize(ToolExecutionLog, {
        tool_name: 'NIQE',
        object_name: 'Global',
        distortion: 'Noise',
        raw_score: NaN,
        normalized_score: 3,
        execution_time: 0,
        fallback: false,
        error: null,
        timestamp: '2026-11-17T08:00:00Z',
      }),
    ValidationError,
  );
});

t.test('a schema without a definition is a programming error', async (t) => {
  t.throws(() => parse(Type.String(), 'x'), new TypeError('Expected a schema created by defineModel'));
  t.throws(() => buildJsonSchema(Type.String()), TypeError);
});

t.test(
  'prototype keys are plain keys: kept in open objects, refused in closed ones, harmless everywhere',
  async (t) => {
    const input = parseJson(
      PlannerInput,
      '{"query":"q","image_path":"p","prior_context":{"__proto__":{"polluted":true},"constructor":1}}',
    );
    t.strictSame(Object.keys(input.prior_context ?? {}), ['__proto__', 'constructor']);
    t.equal(Object.getPrototypeOf(input.prior_context), Object.prototype);
    t.notOk('polluted' in {});
    t.match(serialize(PlannerInput, input), '{"__proto__":{"polluted":true},"constructor":1}');
    t.not(hash(input), hash({ ...input, prior_context: {} }));
    const evidence = parseJson(ExecutorOutput, '{"distortion_set":{"__proto__":["Noise"]}}');
    t.strictSame(Object.keys(evidence.distortion_set ?? {}), ['__proto__']);
  },
);

t.test('an unknown field named like an inherited member is listed like any other', async (t) => {
  for (const key of ['constructor', 'toString', 'hasOwnProperty', '__proto__']) {
    const input = JSON.parse(`{"text":1,"${key}":{"a":1}}`) as unknown;
    t.strictSame(refusedPaths(Note, input).toSorted(), ['/text', `/${key}`].toSorted(), key);
  }
});

// Scenario: state-models / JSON schema generation
t.test('a published schema is bare JSON: fields with a default are not required', async (t) => {
  const published = buildJsonSchema(Note);
  t.strictSame(published, JSON.parse(JSON.stringify(published)));
  t.match(published, {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Note',
    type: 'object',
    required: ['text'],
    examples: [{ text: 'hello' }],
  });
  const output = defineModel('Output', Type.Object({ tags: Type.Array(Type.String(), { default: [] }) }), {
    publish: 'output',
  });
  t.strictSame(buildJsonSchema(output)['required'], ['tags'], 'what we write is always there');
  t.notOk('examples' in buildJsonSchema(output));
  t.strictSame(examplesOf(output), []);
});

t.test('a published schema is a copy: changing it does not change the model', async (t) => {
  const published = buildJsonSchema(PlannerOutput) as { required: string[]; examples: { query_type: string }[] };
  t.teardown(() => {
    published.examples[0]!.query_type = 'IQA';
  });
  published.required.pop();
  published.examples[0]!.query_type = 'changed';
  t.match(buildJsonSchema(PlannerOutput), {
    required: ['query_type', 'query_scope', 'distortion_source', 'reference_mode', 'plan'],
    examples: [{ query_type: 'IQA' }],
  });
});
