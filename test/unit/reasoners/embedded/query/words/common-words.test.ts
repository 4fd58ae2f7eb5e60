// The word lists: every entry is found in a text, and none contradicts another.
import t from 'tap';
import { join } from 'node:path';
import { projectRoot } from '../../../../../../src/config/config.ts';
import {
  inflectWords,
  readCommonWordsFile,
  type CommonWordsFile,
} from '../../../../../../src/reasoners/embedded/query/words/common-words.ts';
import { readLexiconFile, type WordClass } from '../../../../../../src/reasoners/embedded/query/words/lexicon-file.ts';
import { expandPhrase } from '../../../../../../src/reasoners/embedded/query/words/phrase-notation.ts';
import { tokenize } from '../../../../../../src/reasoners/embedded/query/words/tokens.ts';
import { LEXICON_PATH, VOCABULARY } from '../../../../../support/reasoners/lexicon.ts';

const { lexicon } = VOCABULARY;
const file = readLexiconFile(LEXICON_PATH);
const commonWords = readCommonWordsFile(join(projectRoot(), 'configs/common-words.yaml'));
const expand = (lines: readonly string[] = []): string[] => lines.flatMap(expandPhrase).map((words) => words.join(' '));

const CLASSES: [WordClass, readonly string[]][] = [
  ['quality', [...file.quality.flaw, ...file.quality.virtue, ...file.quality.neutral]],
  ['assess', file.quality.assess],
  ['other', file.other.strong],
  ['taste', file.other.weak],
  ['image', file.images],
  ['place', file.places],
  ['medium', file.media],
  ['abstraction', file.abstractions],
  ['reference', file.reference],
  ['exclusion', file.exclusions],
  ['request', file.requests],
  ['level', file.levels],
  ['form', Object.values(file.forms).flat()],
  ...Object.entries(file.grammar).map(([name, lines]): [WordClass, readonly string[]] => [name as WordClass, lines]),
  ...Object.values(file.distortions).flatMap(({ flaw, virtue, neutral, process }): [WordClass, readonly string[]][] => [
    ['distortion', [...(flaw ?? []), ...(virtue ?? []), ...(neutral ?? [])]],
    ['process', process ?? []],
  ]),
];

t.test('every phrase of the lexicon is found in a text, with its class', (t) => {
  const lost = CLASSES.flatMap(([wordClass, lines]) =>
    expand(lines)
      .filter((phrase) => {
        const words = tokenize(phrase).map(({ word }) => word);
        const match = lexicon.match(words, 0, words.length);
        return match?.length !== words.length || !match.meaning.classes.has(wordClass);
      })
      .map((phrase) => `${wordClass}: ${phrase}`),
  );
  t.strictSame(lost, []);
  t.end();
});

t.test('no phrase both complains and praises, or is about both quality and taste', (t) => {
  const owners = new Map<string, Set<string>>();
  const add = (list: string, lines: readonly string[] = []): void => {
    for (const phrase of expand(lines)) owners.set(phrase, (owners.get(phrase) ?? new Set()).add(list));
  };
  for (const [category, { flaw, virtue, neutral, process }] of Object.entries(file.distortions)) {
    for (const [kind, lines] of Object.entries({ flaw, virtue, neutral, process })) add(`${category} ${kind}`, lines);
  }
  for (const [kind, lines] of Object.entries(file.quality)) if (kind !== 'assess') add(`quality ${kind}`, lines);
  for (const [kind, lines] of Object.entries(file.other)) add(`other ${kind}`, lines);
  t.strictSame(
    [...owners].filter(([, lists]) => lists.size > 1).map(([phrase, lists]) => `${phrase}: ${[...lists].join(', ')}`),
    [],
  );
  t.end();
});

t.test('every common word has the class of its list, unless the lexicon defines it', (t) => {
  const classes = { adjectives: 'attribute', verbs: 'verb', abstract: 'abstraction', adverbs: 'adverb' } as const;
  for (const [list, wordClass] of Object.entries(classes)) {
    const words = commonWords[list as keyof typeof classes].flatMap((line) => line.split(' '));
    const lost = words.filter(
      (word) => !lexicon.knows(word) && lexicon.match([word], 0, 1)?.meaning.classes.has(wordClass) !== true,
    );
    t.strictSame(lost, [], list);
  }
  t.strictSame(
    commonWords.things.flatMap((line) => line.split(' ')).filter((word) => !lexicon.things.has(word)),
    [],
  );
  t.strictSame(
    commonWords.foreign.flatMap((line) => line.split(' ')).filter((word) => !lexicon.foreign.has(word)),
    [],
  );
  t.end();
});

t.test('a common word is in one list only', (t) => {
  const twice: CommonWordsFile = { ...commonWords, verbs: [...commonWords.verbs, commonWords.things[0] ?? ''] };
  t.throws(() => inflectWords(twice), { message: /once but received it in things and verbs/ });
  t.doesNotThrow(() => inflectWords(commonWords));
  t.end();
});

t.test('endings are added by rule', (t) => {
  const { things, classes } = inflectWords({
    things: ['fox pony car'],
    adjectives: ['happy'],
    verbs: ['stop blame carry'],
    abstract: ['hint'],
    adverbs: ['twice'],
    foreign: ['ist'],
  });
  t.strictSame([...things], ['fox', 'foxes', 'pony', 'ponies', 'car', 'cars']);
  for (const form of ['stops', 'stopped', 'stopping', 'blamed', 'blaming', 'carried', 'carries'])
    t.equal(classes.get(form), 'verb', form);
  t.strictSame(
    [classes.get('happily'), classes.get('happiest'), classes.get('hints')],
    ['adverb', 'attribute', 'abstraction'],
  );
  t.end();
});
