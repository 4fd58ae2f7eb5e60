// Redaction of API keys.
import t from 'tap';
import { createRedactor, Secret } from '../../../../src/vlm/transport/secret.ts';

t.test('keys are redacted in every encoding', async (t) => {
  const key = 'pa$$/word+"1234"';
  const redact = createRedactor([new Secret(key)]);
  for (const text of [
    key,
    encodeURIComponent(key),
    JSON.stringify({ key }),
    Buffer.from(key).toString('base64'),
    'sk-abc***wxyz',
    'AIzaSyA1234567890',
  ]) {
    const cleaned = redact(`before ${text} after`);
    t.match(cleaned, /^before .*\(key\).* after$/, text);
    t.notOk(cleaned.includes('1234'));
  }
  const twice = encodeURIComponent(encodeURIComponent(key));
  const everyCharacter = Array.from(key, (character) => `%${character.charCodeAt(0).toString(16)}`).join('');
  const asUnicode = Array.from(
    key,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase().replace('U', 'u')}`,
  ).join('');
  const inBase64 = [1, 2, 3].map((length) => Buffer.from(`${'x'.repeat(length)}${key} and more`).toString('base64'));
  for (const text of [
    twice,
    everyCharacter,
    asUnicode,
    JSON.stringify(asUnicode),
    JSON.stringify(JSON.stringify({ key })),
    ...inBase64,
    Buffer.from(`user:${key}`).toString('base64url'),
  ]) {
    t.match(redact(`before ${text} after`), /^before .*\(key\).* after$/, text);
  }
  t.equal(redact('a sky-blue task-force'), 'a sky-blue task-force');
  for (const word of ['none', 'EMPTY', 'test'])
    t.equal(
      createRedactor([new Secret(word)])('{"severity":"none","a":"empty test"}'),
      '{"severity":"none","a":"empty test"}',
      'a placeholder is not redacted',
    );
  t.equal(createRedactor([new Secret('sk-123')])('it is sk-123.'), 'it is (key).');
  t.equal(createRedactor([new Secret('a')])('banana'), 'banana', 'a key of one letter is not redacted');
});
