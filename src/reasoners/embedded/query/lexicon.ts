// Before any question is read: loads configs/lexicon.yaml, checks it, and compiles its phrases to a trie of words.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Type, { type Static, type TSchema } from 'typebox';
import { parse as parseYaml } from 'yaml';
import { defineModel, parse } from '../../../../schemas/validation/model.ts';
import { DISTORTION_CATEGORIES, type DistortionCategory } from '../../../../schemas/vocabulary.ts';
import { loadConfidenceWeights, type ConfidenceWeights } from './confidence.ts';
import { inflect, readEnglishFile, verbForms, type EnglishFile } from './word-list.ts';
import { expandPhrase } from './phrase-notation.ts';
import { createSpeller, type Speller } from './spelling.ts';

export type Polarity = 'flaw' | 'virtue';
export type AnswerForm = 'scoring' | 'multiple_choice' | 'yes_no' | 'how_much' | 'which' | 'explanation';
export type WordClass =
  | 'distortion'
  | 'process'
  | 'quality'
  | 'assess'
  | 'other'
  | 'taste'
  | 'picture'
  | 'place'
  | 'medium'
  | 'abstraction'
  | 'reference'
  | 'exclusion'
  | 'form'
  | 'request'
  | 'level'
  | 'machine'
  | 'tool'
  | GrammarClass;
type GrammarClass = (typeof GRAMMAR_CLASSES)[number];

/** What a phrase means; a phrase that stands in several lists has several classes. */
export interface Meaning {
  readonly classes: ReadonlySet<WordClass>;
  readonly category: DistortionCategory | null;
  readonly polarity: Polarity | null;
  readonly form: AnswerForm | null;
  /** Which side of its category it means ("underexposure"), or null where it means all of it. */
  readonly side: string | null;
}

export interface Lexicon {
  /** The longest phrase that begins at `start`; words beyond `end` do not belong to the sentence part. */
  match(words: readonly string[], start: number, end: number): { length: number; meaning: Meaning } | null;
  knows(word: string): boolean;
  /** What a word means that is in none of the lists. */
  correct: Speller['correct'];
  /** Nouns of what can be seen. */
  readonly things: ReadonlySet<string>;
  /** Function words of other languages. */
  readonly foreign: ReadonlySet<string>;
  /** Distortion words that may be part of an object's name. */
  readonly ambiguous: ReadonlySet<string>;
  /** Known words that end a name after a noun: "traffic light". */
  readonly compoundHeads: ReadonlySet<string>;
  readonly confidence: ConfidenceWeights;
  /** Nouns that look like an adverb, a participle or an adjective. */
  readonly nouns: ReadonlySet<string>;
}

const GRAMMAR_CLASSES = [
  'determiner',
  'preposition',
  'aside',
  'purpose',
  'conjunction',
  'than',
  'auxiliary',
  'pronoun',
  'adverb',
  'verb',
  'attribute',
  'negation',
  'excess',
] as const;
const FORMS = ['scoring', 'how_much', 'which', 'explanation', 'yes_no'] as const;
const PLAIN_LISTS = {
  pictures: 'picture',
  places: 'place',
  media: 'medium',
  abstractions: 'abstraction',
  reference: 'reference',
  exclusions: 'exclusion',
  requests: 'request',
  levels: 'level',
  machine: 'machine',
} as const satisfies Record<string, WordClass>;

const Phrases = Type.Array(Type.String({ minLength: 1 }));
const ByPolarity = Type.Object(
  {
    flaw: Type.Optional(Phrases),
    virtue: Type.Optional(Phrases),
    neutral: Type.Optional(Phrases),
    process: Type.Optional(Phrases),
    sides: Type.Optional(Type.Record(Type.String(), Phrases)),
  },
  { additionalProperties: false },
);
const recordOf = <K extends string, S extends TSchema>(keys: readonly K[], schema: S) =>
  Type.Object(Object.fromEntries(keys.map((key) => [key, schema])) as Record<K, S>, { additionalProperties: false });

const LexiconFile = defineModel(
  'Lexicon',
  Type.Object(
    {
      distortions: recordOf(DISTORTION_CATEGORIES, ByPolarity),
      quality: recordOf(['flaw', 'virtue', 'neutral', 'assess'], Phrases),
      other: recordOf(['strong', 'weak'], Phrases),
      pictures: Phrases,
      places: Phrases,
      media: Phrases,
      abstractions: Phrases,
      reference: Phrases,
      exclusions: Phrases,
      requests: Phrases,
      levels: Phrases,
      machine: Phrases,
      forms: recordOf(FORMS, Phrases),
      grammar: recordOf(GRAMMAR_CLASSES, Phrases),
      ambiguous: Phrases,
      compound_heads: Phrases,
      nouns: Phrases,
    },
    { additionalProperties: false },
  ),
);
export type LexiconFile = Static<typeof LexiconFile>;

/** Classes whose words may be written with another ending or a slip. */
const TOPICAL: ReadonlySet<WordClass> = new Set([
  'distortion',
  'process',
  'quality',
  'other',
  'taste',
  'picture',
  'assess',
  'reference',
]);

/** `english.yaml` and `planner-confidence.yaml` stand beside it, unless another folder is named. */
export function loadLexicon(path: string, folder = dirname(path)): Lexicon {
  const file = readLexiconFile(path);
  const english = readEnglishFile(join(folder, 'english.yaml'));
  return buildLexicon(file, english, loadConfidenceWeights(join(folder, 'planner-confidence.yaml')));
}

export const readLexiconFile = (path: string): LexiconFile => parse(LexiconFile, parseYaml(readFileSync(path, 'utf8')));

export function buildLexicon(file: LexiconFile, englishFile: EnglishFile, confidence: ConfidenceWeights): Lexicon {
  const root: TrieNode = { next: new Map(), meaning: null };
  const words = new Set<string>();
  const topical = new Set<string>();
  for (const { phrases, ...entry } of entriesOf(file)) {
    for (const phrase of phrases.flatMap(expandPhrase)) {
      phrase.forEach((word) => words.add(word));
      if (TOPICAL.has(entry.class)) phrase.forEach((word) => topical.add(word));
      addPhrase(root, phrase, entry);
      if (entry.form) inheritQuality(root, phrase);
    }
  }
  const english = inflect(englishFile);
  const verbs = file.grammar.verb
    .flatMap(expandPhrase)
    .flat()
    .flatMap(verbForms)
    .filter((form) => !english.things.has(form));
  for (const [word, wordClass] of [...english.classes, ...verbs.map((form) => [form, 'verb'] as const)]) {
    if (!root.next.get(word)?.meaning) addPhrase(root, [word], { class: wordClass });
  }
  const nouns = new Set(file.nouns.flatMap(expandPhrase).flat());
  const known = new Set([
    ...words,
    ...english.classes.keys(),
    ...verbs,
    ...english.things,
    ...english.foreign,
    ...nouns,
    ...file.compound_heads,
  ]);
  for (const word of Object.values(file.grammar).flat().flatMap(expandPhrase).flat()) topical.delete(word);
  const speller = createSpeller(known, topical);
  return {
    match: (tokens, start, end) => longestMatch(root, tokens, start, end),
    knows: (word) => words.has(word),
    correct: (word) => (known.has(word) ? null : speller.correct(word)),
    things: english.things,
    foreign: english.foreign,
    ambiguous: new Set(file.ambiguous),
    compoundHeads: new Set(file.compound_heads),
    confidence,
    nouns,
  };
}

interface Entry {
  class: WordClass;
  category?: DistortionCategory;
  polarity?: Polarity;
  form?: AnswerForm;
  side?: string;
}

function entriesOf(file: LexiconFile): (Entry & { phrases: string[] })[] {
  const distortions = DISTORTION_CATEGORIES.flatMap((category) => {
    const { flaw = [], virtue = [], neutral = [], process = [], sides = {} } = file.distortions[category];
    return [
      { class: 'distortion', category, polarity: 'flaw', phrases: flaw } as const,
      { class: 'distortion', category, polarity: 'virtue', phrases: virtue } as const,
      { class: 'distortion', category, phrases: neutral } as const,
      { class: 'process', category, phrases: process } as const,
      // After the lists that they are part of.
      ...Object.entries(sides).map(([side, phrases]) => ({ class: 'distortion', category, side, phrases }) as const),
    ];
  });
  return [
    ...distortions,
    { class: 'quality', polarity: 'flaw', phrases: file.quality.flaw },
    { class: 'quality', polarity: 'virtue', phrases: file.quality.virtue },
    { class: 'quality', phrases: file.quality.neutral },
    { class: 'assess', phrases: file.quality.assess },
    { class: 'other', phrases: file.other.strong },
    { class: 'taste', phrases: file.other.weak },
    ...Object.entries(PLAIN_LISTS).map(([list, wordClass]) => ({
      class: wordClass,
      phrases: file[list as keyof typeof PLAIN_LISTS],
    })),
    ...FORMS.map((form) => ({ class: 'form' as const, form, phrases: file.forms[form] })),
    ...GRAMMAR_CLASSES.map((grammar) => ({ class: grammar, phrases: file.grammar[grammar] })),
  ];
}

interface TrieNode {
  next: Map<string, TrieNode>;
  meaning: Meaning | null;
}

function addPhrase(root: TrieNode, phrase: readonly string[], entry: Entry): void {
  let node = root;
  for (const word of phrase) {
    const next = node.next.get(word) ?? { next: new Map<string, TrieNode>(), meaning: null };
    node.next.set(word, next);
    node = next;
  }
  const known = node.meaning;
  if (known?.category && entry.category && known.category !== entry.category) {
    throw new TypeError(
      `Expected one distortion category for "${phrase.join(' ')}" but received ${known.category} and ${entry.category}`,
    );
  }
  if (entry.side && known?.category !== entry.category) {
    throw new TypeError(
      `Expected "${phrase.join(' ')}", which names a side of ${entry.category ?? 'nothing'}, in one of its lists as well`,
    );
  }
  node.meaning = {
    classes: new Set([...(known?.classes ?? []), entry.class]),
    category: known?.category ?? entry.category ?? null,
    // A named property without a judgement ("contrast") stays neutral, whatever else the word may mean.
    polarity: known?.category ? known.polarity : (known?.polarity ?? entry.polarity ?? null),
    form: known?.form ?? entry.form ?? null,
    side: known?.side ?? entry.side ?? null,
  };
}

/** "what is wrong" and "how would you rate" are forms of question, but "wrong" and "rate" in them still speak of quality. */
function inheritQuality(root: TrieNode, phrase: readonly string[]): void {
  for (const word of phrase) {
    const meaning = root.next.get(word)?.meaning;
    if (meaning?.classes.has('assess')) addPhrase(root, phrase, { class: 'assess' });
    if (meaning?.classes.has('quality'))
      addPhrase(root, phrase, { class: 'quality', ...(meaning.polarity && { polarity: meaning.polarity }) });
  }
}

function longestMatch(
  root: TrieNode,
  words: readonly string[],
  start: number,
  end: number,
): { length: number; meaning: Meaning } | null {
  let node: TrieNode | undefined = root;
  let best: { length: number; meaning: Meaning } | null = null;
  for (let position = start; position < end; position += 1) {
    node = node.next.get(words[position] ?? '');
    if (!node) break;
    if (node.meaning) best = { length: position - start + 1, meaning: node.meaning };
  }
  return best;
}
