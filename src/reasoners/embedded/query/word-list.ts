// Beside the lexicon: loads configs/english.yaml, the plain words of English that say nothing about quality, with their endings added by rule.
import { readFileSync } from 'node:fs';
import Type, { type Static } from 'typebox';
import { parse as parseYaml } from 'yaml';
import { defineModel, parse } from '../../../../schemas/validation/model.ts';
import type { WordClass } from './lexicon.ts';

export interface English {
  /** What can be seen in a picture, in singular and plural. */
  readonly things: ReadonlySet<string>;
  /** Everything else, by the class it has in a sentence. */
  readonly classes: ReadonlyMap<string, WordClass>;
  /** Function words of other languages. */
  readonly foreign: ReadonlySet<string>;
}

const Words = Type.Array(Type.String({ pattern: "^[\\p{Ll}']+( [\\p{Ll}']+)*$" }));
const EnglishFile = defineModel(
  'English',
  Type.Object(
    { things: Words, adjectives: Words, verbs: Words, abstract: Words, adverbs: Words, foreign: Words },
    { additionalProperties: false },
  ),
);

export type EnglishFile = Static<typeof EnglishFile>;

export const readEnglishFile = (path: string): EnglishFile => parse(EnglishFile, parseYaml(readFileSync(path, 'utf8')));

export function inflect(file: EnglishFile): English {
  const wordsOf = (list: keyof typeof file): string[] => file[list].flatMap((line) => line.split(' '));
  refuseDuplicates(Object.keys(file).map((list) => [list, wordsOf(list as keyof typeof file)]));
  const things = new Set(wordsOf('things').flatMap((word) => [word, pluralOf(word)]));
  const classes = new Map<string, WordClass>();
  const add = (wordClass: WordClass, words: readonly string[]): void => {
    for (const word of words) if (!things.has(word) && !classes.has(word)) classes.set(word, wordClass);
  };
  // Words as written before their inflections, so that "left" never comes second to a form of "leave".
  const lists = [
    ['attribute', 'adjectives'],
    ['abstraction', 'abstract'],
    ['verb', 'verbs'],
    ['adverb', 'adverbs'],
  ] as const;
  for (const [wordClass, list] of lists) add(wordClass, wordsOf(list));
  add('abstraction', wordsOf('abstract').map(pluralOf));
  add('verb', wordsOf('verbs').flatMap(verbForms));
  add(
    'attribute',
    wordsOf('adjectives').flatMap((word) =>
      ['er', 'est'].map((ending) => word.replace(/e$/, '').replace(/y$/, 'i') + ending),
    ),
  );
  add(
    'adverb',
    wordsOf('adjectives').map((word) => `${word.replace(/y$/, 'i')}ly`),
  );
  return { things, classes, foreign: new Set(wordsOf('foreign')) };
}

function refuseDuplicates(lists: readonly (readonly [string, readonly string[]])[]): void {
  const owner = new Map<string, string>();
  for (const [list, words] of lists) {
    for (const word of words) {
      const other = owner.get(word);
      if (other !== undefined) throw new TypeError(`Expected "${word}" once but received it in ${other} and ${list}`);
      owner.set(word, list);
    }
  }
}

function pluralOf(noun: string): string {
  if (/(s|x|z|ch|sh)$/.test(noun)) return `${noun}es`;
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}

/** With and without the last consonant doubled: what nobody writes does no harm. */
export function verbForms(verb: string): string[] {
  const stems = /e$/.test(verb)
    ? [verb.slice(0, -1)]
    : /[^aeiou][aeiou][bdfgklmnprtvz]$/.test(verb)
      ? [verb, verb + (verb.at(-1) ?? '')]
      : [verb];
  const past = /[^aeiou]y$/.test(verb) ? [`${verb.slice(0, -1)}ied`] : stems.map((stem) => `${stem}ed`);
  return [pluralOf(verb), ...past, ...stems.map((stem) => `${stem}ing`)];
}
