// Unknown words are corrected by spelling, ending or one typo, and otherwise left alone.
import t from 'tap';
import {
  toAmericanSpelling,
  createSpeller,
  findStem,
} from '../../../../../../src/reasoners/embedded/query/words/spelling.ts';
import { parseQuery } from '../../../../../../src/reasoners/embedded/query/parse-query.ts';
import { VOCABULARY } from '../../../../../support/reasoners/lexicon.ts';

const correct = (word: string) => VOCABULARY.lexicon.correct(word);

t.test('British and American spelling are mapped to one form', (t) => {
  const pairs = [
    ['colour', 'color'],
    ['colours', 'colors'],
    ['artefacts', 'artifacts'],
    ['posterisation', 'posterization'],
    ['pixellated', 'pixelated'],
    ['grey', 'gray'],
    ['centre', 'center'],
    ['analyse', 'analyze'],
    ['focussed', 'focused'],
    ['aesthetic', 'esthetic'],
    ['recognised', 'recognized'],
    ['discolouration', 'discoloration'],
  ] as const;
  for (const [british, american] of pairs) t.equal(toAmericanSpelling(british), toAmericanSpelling(american), british);
  t.not(toAmericanSpelling('noise'), toAmericanSpelling('nose'));
  t.end();
});

t.test('a family of words shares its stem', (t) => {
  for (const family of [
    ['noise', 'noisy', 'noisily', 'noisiness'],
    ['blur', 'blurry', 'blurred', 'blurring', 'blurriest'],
    ['dark', 'darkens', 'darkness', 'darkish'],
    ['pixelated', 'pixelization'],
  ]) {
    t.equal(new Set(family.map(findStem)).size, 1, family.join());
  }
  t.end();
});

t.test('an unknown word is corrected to a known one', (t) => {
  t.strictSame(correct('bluured'), { word: 'blurred', by: 'spelling' });
  t.equal(correct('noisily')?.by, 'ending');
  t.strictSame(correct('compresion'), { word: 'compression', by: 'spelling' });
  t.strictSame(correct('overexposd'), { word: 'overexposed', by: 'typo' });
  t.strictSame(correct('qaulity'), { word: 'quality', by: 'typo' });
  for (const word of [
    'train',
    'nose',
    'noise',
    'car',
    'gran',
    'shark',
    'kangaroo',
    'xyzzy',
    'qualité',
    'ab',
    'a'.repeat(5_000),
  ])
    t.equal(correct(word), null, word.slice(0, 20));
  t.end();
});

t.test('of several matches the first listed wins', (t) => {
  t.equal(createSpeller([], ['blurry', 'blurrs']).correct('blurrz')?.word, 'blurry');
  t.end();
});

t.test('long distortion words are recognised with one typo in any position', (t) => {
  const words = [
    'blurry',
    'grainy',
    'overexposed',
    'compression',
    'pixelated',
    'contrast',
    'oversaturated',
    'sharpness',
    'washed',
  ];
  let [tried, found] = [0, 0];
  for (const word of words) {
    const plain = word === 'washed' ? 'washed out' : word;
    const expected = JSON.stringify(parseQuery(`Is the image ${plain}?`, VOCABULARY).distortions);
    for (let index = 1; index < word.length - 1; index += 1) {
      const typos = [
        word.slice(0, index) + word.slice(index + 1),
        word.slice(0, index) + word.charAt(index) + word.slice(index),
        word.slice(0, index) + word.charAt(index + 1) + word.charAt(index) + word.slice(index + 2),
      ];
      for (const typo of typos) {
        tried += 1;
        if (
          JSON.stringify(parseQuery(`Is the image ${plain.replace(word, typo)}?`, VOCABULARY).distortions) === expected
        )
          found += 1;
      }
    }
  }
  t.ok(found / tried >= 0.95, `${found} of ${tried}`);
  t.end();
});
