// Stories around a question: their things are not its objects unless the question refers to them, and they lower the confidence.
import t from 'tap';
import { parseQuery } from '../../../../../src/reasoners/embedded/query/parse-query.ts';
import { VOCABULARY } from '../../../../support/reasoners/lexicon.ts';

const parse = (query: string) => parseQuery(query, VOCABULARY);

t.test('the question is not about the speaker, the circumstances or the purpose', (t) => {
  const stories = [
    'My sister says this is too dark. Is it?',
    'Someone in the office claims that it is blurry. Right?',
    'I took this pic at the zoo and it looks blurry',
    'This was taken through a window. Is it hazy?',
    'Taken at night with a cheap phone. Too noisy?',
    'Two weeks ago I sold my guitar. Is this image sharp?',
    'We want to hang this above the sofa. Is it sharp enough?',
    "I'm a teacher and need to know whether this is too noisy.",
    'The kids were running around. Is anything blurred?',
    'Our bakery posts one every day. Is the image too warm?',
    'My phone changed the colours. Are they natural?',
    'Is there noise in the image in the confirmation mail?',
  ];
  for (const query of stories) t.strictSame(parse(query).objects, [], query);
  t.end();
});

t.test('the question is about a thing that the story judges or a pronoun refers to', (t) => {
  const expected: [string, string[]][] = [
    ['My sister says the dog is blurry. Is she right?', ['dog']],
    ['I think the sky looks kind of purple. Is that so?', ['sky']],
    ['I can see noise in the sky. Is it strong?', ['sky']],
    ['I only care about the logo. Any artifacts?', ['logo']],
    ['My question is about the text on the label. Is it blurry?', ['text on the label']],
    ['There is a boat in the corner. How sharp is it?', ['boat']],
    ['My cat jumped off the chair. Is he blurred?', ['cat']],
    ['She moved her head at the wrong moment. Is her face blurred?', ['face']],
    ['The report needs a BRISQUE value for the car. Could you get it?', ['car']],
    ['Focus on the tower: any noise?', ['tower']],
    ['Look at the number on the jersey. Is it blurry?', ['number on the jersey']],
  ];
  for (const [query, objects] of expected) t.strictSame(parse(query).objects, objects, query);
  t.strictSame(
    parse('Focus on the tower: any noise?').distortions,
    { tower: ['Noise'] },
    '"focus on" is not a question about focus',
  );
  t.strictSame(parse('Is the focus on the tower right?').distortions, { tower: ['Blurs'] });
  t.end();
});

t.test('words of the story do not decide whether a question is about quality or taste', (t) => {
  t.equal(parse('We are looking for a cover for our album. Does this one have the right mood?').queryType, 'Other');
  t.equal(parse('I feel it is a bit soft. Is it blurry?').queryType, 'IQA');
  t.equal(parse('The pictures come out foggy. What do you see in this one?').queryType, 'IQA');
  t.equal(parse('What do you see?').queryType, 'Other');
  t.strictSame(parse('Read the text on the billboard.'), {
    ...parse('Read the text on the billboard.'),
    queryType: 'Other',
    objects: ['text on the billboard'],
  });
  t.end();
});

t.test('a story lowers the confidence', (t) => {
  const [bare, story, longer] = [
    'Is it blurry?',
    'I took this at a wedding. Is it blurry?',
    'I took this at a wedding. My sister held the lamp. Is it blurry?',
  ].map((query) => parse(query).confidence);
  t.ok(
    (story ?? 1) < (bare ?? 0) && (longer ?? 1) < (story ?? 0),
    `${String(bare)} ${String(story)} ${String(longer)}`,
  );
  t.end();
});
