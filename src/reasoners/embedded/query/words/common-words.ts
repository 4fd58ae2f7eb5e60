// Loads configs/common-words.yaml, English words that say nothing about quality, and adds their inflected forms.
import { readFileSync } from 'node:fs';
import Type, { type Static } from 'typebox';
import { parse as parseYaml } from 'yaml';
import { defineModel, parse } from '../../../../../schemas/validation/model.ts';
import type { WordClass } from './lexicon-file.ts';

interface CommonWords {
  /** Nouns of visible things, singular and plural. */
  readonly things: ReadonlySet<string>;
  /** All other words with their word class. */
  readonly classes: ReadonlyMap<string, WordClass>;
  /** Function words of other languages. */
  readonly foreign: ReadonlySet<string>;
}

const Words = Type.Array(Type.String({ pattern: "^[\\p{Ll}']+( [\\p{Ll}']+)*$" }));
const CommonWordsFile = defineModel(
  'configs/common-words.yaml',
  Type.Object(
    { things: Words, adjectives: Words, verbs: Words, abstract: Words, adverbs: Words, foreign: Words },
    { additionalProperties: false },
  ),
);

export type CommonWordsFile = Static<typeof CommonWordsFile>;

export const readCommonWordsFile = (path: string): CommonWordsFile =>
  parse(CommonWordsFile, parseYaml(readFileSync(path, 'utf8')));

export function inflectWords(file: CommonWordsFile): CommonWords {
  const split = (list: keyof typeof file): string[] => file[list].flatMap((line) => line.split(' '));
  assertNoDuplicates(Object.keys(file).map((list) => [list, split(list as keyof typeof file)]));
  const things = new Set(split('things').flatMap((word) => [word, pluralize(word)]));
  const classes = new Map<string, WordClass>();
  const add = (wordClass: WordClass, words: readonly string[]): void => {
    for (const word of words) if (!things.has(word) && !classes.has(word)) classes.set(word, wordClass);
  };
  // Base forms first, so that the adjective "left" takes precedence over a form of "leave".
  const lists = [
    ['attribute', 'adjectives'],
    ['abstraction', 'abstract'],
    ['verb', 'verbs'],
    ['adverb', 'adverbs'],
  ] as const;
  for (const [wordClass, list] of lists) add(wordClass, split(list));
  add('abstraction', split('abstract').map(pluralize));
  add('verb', split('verbs').flatMap(verbForms));
  add(
    'attribute',
    split('adjectives').flatMap((word) =>
      ['er', 'est'].map((ending) => word.replace(/e$/, '').replace(/y$/, 'i') + ending),
    ),
  );
  add(
    'adverb',
    split('adjectives').map((word) => `${word.replace(/y$/, 'i')}ly`),
  );
  return { things, classes, foreign: new Set(split('foreign')) };
}

function assertNoDuplicates(lists: readonly (readonly [string, readonly string[]])[]): void {
  const owner = new Map<string, string>();
  for (const [list, words] of lists) {
    for (const word of words) {
      const other = owner.get(word);
      if (other !== undefined) throw new TypeError(`Expected "${word}" once but received it in ${other} and ${list}`);
      owner.set(word, list);
    }
  }
}

function pluralize(noun: string): string {
  if (/(s|x|z|ch|sh)$/.test(noun)) return `${noun}es`;
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}

/** With and without a doubled last consonant; forms that do not exist do no harm. */
export function verbForms(verb: string): string[] {
  const stems = /e$/.test(verb)
    ? [verb.slice(0, -1)]
    : /[^aeiou][aeiou][bdfgklmnprtvz]$/.test(verb)
      ? [verb, verb + (verb.at(-1) ?? '')]
      : [verb];
  const past = /[^aeiou]y$/.test(verb) ? [`${verb.slice(0, -1)}ied`] : stems.map((stem) => `${stem}ed`);
  return [pluralize(verb), ...past, ...stems.map((stem) => `${stem}ing`)];
}
