// Answer options in the layouts people use, and in the request's own field.
import t from 'tap';
import { splitOptions } from '../../../../../src/reasoners/embedded/query/answer-options.ts';

const found = (text: string, choices: string[] = []) =>
  splitOptions(text, choices).options.map(({ letter, text: option }) => `${letter}=${option}`);

t.test('the usual layouts', (t) => {
  const layouts = [
    'Q?\nA. Blur\nB. Noise',
    'Q?\nA) Blur\nB) Noise',
    'Q? (A) Blur (B) Noise',
    'Q?\nA: Blur\nB: Noise',
    'Q? a. Blur, b. Noise.',
    'Q? [A] Blur; [B] Noise',
    'Q? A. Blur B. Noise',
  ];
  for (const layout of layouts) t.strictSame(found(layout), ['A=Blur', 'B=Noise'], JSON.stringify(layout));
  t.strictSame(found('Q? 1. Blur 2. Noise 3) Both'), ['1=Blur', '2=Noise', '3=Both'], 'numbers stay numbers');
  t.equal(splitOptions('Which one?\nA. Blur\nB. Noise').stem.trim(), 'Which one?');
  t.end();
});

t.test('an instruction to the assistant is not an option', (t) => {
  t.strictSame(found('Q?\nA. Blur\nB. Noise\nAnswer with the letter.'), ['A=Blur', 'B=Noise']);
  t.strictSame(found('Q? (A) Blur (B) Noise. Please answer with one letter.'), ['A=Blur', 'B=Noise']);
  t.end();
});

t.test('text that only looks like options', (t) => {
  for (const text of [
    'Is plan A. better?',
    'Rate from 1 to 5.',
    'Is vitamin B) good?',
    'A. alone',
    'e.g. this one',
    'C. D. E.',
    '',
  ]) {
    t.strictSame(found(text), [], text);
  }
  t.end();
});

t.test('choices are lettered, after those of the query and without repeating them', (t) => {
  t.strictSame(found('Q?', ['Blur', 'Noise']), ['A=Blur', 'B=Noise']);
  t.strictSame(found('Q?', ['A. Blur', 'B. Noise']), ['A=Blur', 'B=Noise'], 'their own letters are not doubled');
  t.strictSame(found('Q? A. Blur B. Noise', ['noise', 'Both']), ['A=Blur', 'B=Noise', 'C=Both']);
  const many = Array.from({ length: 28 }, (_, index) => `option ${index}`);
  t.strictSame(
    splitOptions('Q?', many)
      .options.slice(25)
      .map((option) => option.letter),
    ['Z', 'AA', 'AB'],
  );
  t.end();
});
