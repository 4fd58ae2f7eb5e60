// The lexicon loads, its notation expands as documented, and mistakes in it are rejected at start.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { loadLexicon } from '../../../../../../src/reasoners/embedded/query/words/lexicon.ts';
import { expandPhrase } from '../../../../../../src/reasoners/embedded/query/words/phrase-notation.ts';
import { loadSeverityRules } from '../../../../../../src/reasoners/embedded/findings/severity-rules.ts';
import { parseQuery } from '../../../../../../src/reasoners/embedded/query/parse-query.ts';
import { projectRoot } from '../../../../../../src/config/config.ts';
import { DISTORTION_CATEGORIES } from '../../../../../../schemas/vocabulary.ts';
import { LEXICON_PATH, VOCABULARY } from '../../../../../support/reasoners/lexicon.ts';

const findCategory = (phrase: string) => {
  const words = phrase.split(' ');
  const match = VOCABULARY.lexicon.match(words, 0, words.length);
  return match?.length === words.length ? match.meaning.category : null;
};

t.test('a phrase expands to all its word sequences', (t) => {
  t.strictSame(expandPhrase('sharp enough?'), [['sharp'], ['sharp', 'enough']]);
  t.strictSame(expandPhrase('blur/blurs'), [['blur'], ['blurs']]);
  t.strictSame(expandPhrase('over-exposed'), [['over', 'exposed'], ['overexposed']]);
  t.strictSame(expandPhrase('too?'), [['too']], 'never the empty phrase');
  t.throws(() => expandPhrase(Array(12).fill('a/b').join(' ')), { message: /at most 500 word sequences/ });
  t.end();
});

t.test('phrases have their category, in both spellings', (t) => {
  const expected = {
    Blurs: ['blurry', 'out of focus', 'in focus', 'motion blur', 'camera shake', 'defocused'],
    Sharpness: ['sharp', 'sharper', 'not sharp enough', 'over sharpened', 'oversharpened', 'crisp'],
    Noise: ['noisy', 'grainy', 'film grain', 'salt and pepper', 'denoising'],
    Compression: ['jpeg artifacts', 'jpeg artefacts', 'jpeg blocking', 'blocky', 'pixelated', 'pixellated', 'banding'],
    'Brightness change': ['too dark', 'overexposed', 'over exposed', 'underexposure', 'lighting', 'blown out'],
    Contrast: ['washed out', 'low contrast', 'hazy', 'contrast'],
    'Color distortions': ['color cast', 'colour cast', 'oversaturated', 'white balance', 'colours', 'discolouration'],
  };
  t.strictSame(Object.keys(expected).sort(), [...DISTORTION_CATEGORIES].sort());
  for (const [category, phrases] of Object.entries(expected)) {
    for (const phrase of phrases) t.equal(findCategory(phrase), category, phrase);
  }
  t.end();
});

t.test('a phrase ends within its clause', (t) => {
  t.equal(VOCABULARY.lexicon.match(['out', 'of', 'focus'], 0, 3)?.length, 3);
  t.equal(VOCABULARY.lexicon.match(['out', 'of', 'focus'], 0, 2)?.length, 1);
  t.equal(VOCABULARY.lexicon.match(['vehicle'], 0, 1), null);
  t.end();
});

t.test('a mistake in the file is rejected with a message that names it', (t) => {
  const source = readFileSync(LEXICON_PATH, 'utf8');
  const directory = t.testdir({
    'unknown-list.yaml': `${source}\nsurprises: [boo]\n`,
    'two-categories.yaml': source.replace('grain-free', 'grain-free/blurry'),
    'missing.yaml': 'distortions: {}\n',
  });
  t.throws(() => loadLexicon(join(directory, 'unknown-list.yaml')), { message: /surprises/ });
  t.throws(() => loadLexicon(join(directory, 'two-categories.yaml'), dirname(LEXICON_PATH)), {
    message: /one distortion category for "blurry" but received Blurs and Noise/,
  });
  t.throws(() => loadLexicon(join(directory, 'missing.yaml')), { name: 'ValidationError' });
  t.throws(() => loadLexicon(join(directory, 'none.yaml')), { code: 'ENOENT' });
  t.end();
});

t.test('every variant that can be measured can be asked about', async (t) => {
  const rules = loadSeverityRules(projectRoot());
  const shown = new Set(
    [...rules.categories.values()].flatMap(({ indicators }) => indicators.flatMap(({ shows }) => shows ?? [])),
  );
  const named = new Set(
    [
      'too dark',
      'too bright',
      'low contrast',
      'too much contrast',
      'colour cast',
      'oversaturated',
      'desaturated',
      'blocky',
      'colour noise',
      'salt and pepper noise',
      'halos',
      'motion blur',
    ].flatMap((phrase) => [...parseQuery(`Is there ${phrase}?`, VOCABULARY).variants.values()]),
  );
  t.strictSame(
    [...shown].filter((variant) => !named.has(variant)),
    [],
  );
});
