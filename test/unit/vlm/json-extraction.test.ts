// Extraction of the JSON object from a model's reply.
import t from 'tap';
import { extractJson } from '../../../src/vlm/json-extraction.ts';

t.test('JSON is found bare, fenced and in prose; incomplete JSON is not', async (t) => {
  const found = { a: 1, b: '}' };
  for (const text of [
    '{"a":1,"b":"}"}',
    '\ufeff{"a":1,"b":"}"}',
    '```json\n{"a":1,"b":"}"}\n```',
    '```\n{"a":1,"b":"}"}```',
    'Well {this} is: {"a":1,"b":"}"} I think',
    'a } b {"a":1,"b":"}"}{"a":2}',
  ])
    t.same(extractJson(text), found, text);
  for (const text of [
    '',
    'none',
    '[1]',
    '7',
    'null',
    '{"a":1',
    '{"a":1,"b":"}',
    '{a:1}',
    '{"a":1,}',
    '{'.repeat(100_000),
  ])
    t.equal(extractJson(text), undefined, text.slice(0, 20));
  t.same(extractJson('{"a":"\\"}"}'), { a: '"}' });
  t.same(extractJson('<think>Perhaps {"a":2}? No.</think>\n{"a":1,"b":"}"}'), found, 'reasoning is not the answer');
  t.equal(extractJson('{"a":'.repeat(400_000)), undefined);
});
