// The word lists as data: every entry can be reached, none contradicts another.
import t from 'tap';
import { join } from 'node:path';
import { projectRoot } from '../../../../../src/config/config.ts';
import { inflect, readEnglishFile, type EnglishFile } from '../../../../../src/reasoners/embedded/query/word-list.ts';
import { readLexiconFile } from '../../../../../src/reasoners/embedded/query/lexicon.ts';
import { expandPhrase } from '../../../../../src/reasoners/embedded/query/phrase-notation.ts';
import { tokenize } from '../../../../../src/reasoners/embedded/query/tokens.ts';
import type { WordClass } from '../../../../../src/reasoners/embedded/query/lexicon.ts';
import { LEXICON_PATH, VOCABULARY } from '../../../../support/lexicon.ts';

const { lexicon } = VOCABULARY;
const file = readLexiconFile(LEXICON_PATH);
const english = readEnglishFile(join(projectRoot(), 'configs/english.yaml'));
const readings = (lines: readonly string[] = []): string[] =>
  lines.flatMap(expandPhrase).map((words) => words.join(' '));

const CLASSES: [WordClass, readonly string[]][] = [
  ['quality', [...file.quality.flaw, ...file.quality.virtue, ...file.quality.neutral]],
  ['assess', file.quality.assess],
  ['other', file.other.strong],
  ['taste', file.other.weak],
  ['picture', file.pictures],
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
    readings(lines)
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

t.test('a phrase never both complains and praises, nor speaks of quality and of taste', (t) => {
  const owners = new Map<string, Set<string>>();
  const add = (list: string, lines: readonly string[] = []): void => {
    for (const phrase of readings(lines)) owners.set(phrase, (owners.get(phrase) ?? new Set()).add(list));
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

t.test('every word of plain English is known as what its list says, unless the lexicon knows better', (t) => {
  const classOf = { adjectives: 'attribute', verbs: 'verb', abstract: 'abstraction', adverbs: 'adverb' } as const;
  for (const [list, wordClass] of Object.entries(classOf)) {
    const words = english[list as keyof typeof classOf].flatMap((line) => line.split(' '));
    const lost = words.filter(
      (word) => !lexicon.knows(word) && lexicon.match([word], 0, 1)?.meaning.classes.has(wordClass) !== true,
    );
    t.strictSame(lost, [], list);
  }
  t.strictSame(
    english.things.flatMap((line) => line.split(' ')).filter((word) => !lexicon.things.has(word)),
    [],
  );
  t.strictSame(
    english.foreign.flatMap((line) => line.split(' ')).filter((word) => !lexicon.foreign.has(word)),
    [],
  );
  t.end();
});

t.test('a word stands in one list of plain English only', (t) => {
  const twice: EnglishFile = { ...english, verbs: [...english.verbs, english.things[0] ?? ''] };
  t.throws(() => inflect(twice), { message: /once but received it in things and verbs/ });
  t.doesNotThrow(() => inflect(english));
  t.end();
});

t.test('endings are added by rule', (t) => {
  const { things, classes } = inflect({
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
