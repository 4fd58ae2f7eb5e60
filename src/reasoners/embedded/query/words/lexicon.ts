// Compiles the phrases of configs/lexicon.yaml to a trie of words.
import { dirname, join } from 'node:path';
import type { DistortionCategory } from '../../../../../schemas/vocabulary.ts';
import { loadConfidenceWeights, type ConfidenceWeights } from '../confidence-weights.ts';
import { inflectWords, readCommonWordsFile, verbForms, type CommonWordsFile } from './common-words.ts';
import {
  listEntries,
  readLexiconFile,
  type AnswerForm,
  type Entry,
  type LexiconFile,
  type Polarity,
  type WordClass,
} from './lexicon-file.ts';
import { expandPhrase } from './phrase-notation.ts';
import { createSpeller, type Speller } from './spelling.ts';

/** A phrase in several lists has several classes. */
export interface Meaning {
  readonly classes: ReadonlySet<WordClass>;
  readonly category: DistortionCategory | null;
  readonly polarity: Polarity | null;
  readonly form: AnswerForm | null;
  /** The variant of its category ("underexposure"), or null for the category as a whole. */
  readonly variant: string | null;
}

export interface Lexicon {
  /** The longest phrase that begins at `start` and ends before `end`. */
  match(words: readonly string[], start: number, end: number): { length: number; meaning: Meaning } | null;
  knows(word: string): boolean;
  /** Null for known words and where no known word is close enough. */
  correct: Speller['correct'];
  /** Nouns of visible things. */
  readonly things: ReadonlySet<string>;
  /** Function words of other languages. */
  readonly foreign: ReadonlySet<string>;
  /** Distortion words that may be part of an object's name. */
  readonly ambiguous: ReadonlySet<string>;
  /** Known words that end a name after a noun ("traffic light"). */
  readonly compoundHeads: ReadonlySet<string>;
  readonly confidence: ConfidenceWeights;
  /** Nouns that look like an adverb, a participle or an adjective. */
  readonly nouns: ReadonlySet<string>;
}

/** Classes whose words are also matched with another ending or a typo. */
const TOPICAL_CLASSES: ReadonlySet<WordClass> = new Set([
  'distortion',
  'process',
  'quality',
  'other',
  'taste',
  'image',
  'assess',
  'reference',
]);

/** `folder` contains common-words.yaml and planner-confidence.yaml. */
export function loadLexicon(path: string, folder = dirname(path)): Lexicon {
  const file = readLexiconFile(path);
  const words = readCommonWordsFile(join(folder, 'common-words.yaml'));
  return buildLexicon(file, words, loadConfidenceWeights(join(folder, 'planner-confidence.yaml')));
}

export function buildLexicon(file: LexiconFile, wordsFile: CommonWordsFile, confidence: ConfidenceWeights): Lexicon {
  const root: TrieNode = { next: new Map(), meaning: null };
  const words = new Set<string>();
  const topical = new Set<string>();
  for (const { phrases, ...entry } of listEntries(file)) {
    for (const phrase of phrases.flatMap(expandPhrase)) {
      phrase.forEach((word) => words.add(word));
      if (TOPICAL_CLASSES.has(entry.class)) phrase.forEach((word) => topical.add(word));
      addPhrase(root, phrase, entry);
      if (entry.form) inheritQuality(root, phrase);
    }
  }
  const common = inflectWords(wordsFile);
  const verbs = file.grammar.verb
    .flatMap(expandPhrase)
    .flat()
    .flatMap(verbForms)
    .filter((form) => !common.things.has(form));
  for (const [word, wordClass] of [...common.classes, ...verbs.map((form) => [form, 'verb'] as const)]) {
    if (!root.next.get(word)?.meaning) addPhrase(root, [word], { class: wordClass });
  }
  const nouns = new Set(file.nouns.flatMap(expandPhrase).flat());
  const known = new Set([
    ...words,
    ...common.classes.keys(),
    ...verbs,
    ...common.things,
    ...common.foreign,
    ...nouns,
    ...file.compound_heads,
  ]);
  for (const word of Object.values(file.grammar).flat().flatMap(expandPhrase).flat()) topical.delete(word);
  const speller = createSpeller(known, topical);
  return {
    match: (tokens, start, end) => findLongestMatch(root, tokens, start, end),
    knows: (word) => words.has(word),
    correct: (word) => (known.has(word) ? null : speller.correct(word)),
    things: common.things,
    foreign: common.foreign,
    ambiguous: new Set(file.ambiguous),
    compoundHeads: new Set(file.compound_heads),
    confidence,
    nouns,
  };
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
  if (entry.variant && known?.category !== entry.category) {
    throw new TypeError(
      `Expected "${phrase.join(' ')}", which names a variant of ${entry.category ?? 'no category'}, in one of its lists as well`,
    );
  }
  node.meaning = {
    classes: new Set([...(known?.classes ?? []), entry.class]),
    category: known?.category ?? entry.category ?? null,
    // A neutral property ("contrast") stays neutral, whatever else the word may mean.
    polarity: known?.category ? known.polarity : (known?.polarity ?? entry.polarity ?? null),
    form: known?.form ?? entry.form ?? null,
    variant: known?.variant ?? entry.variant ?? null,
  };
}

/** "what is wrong" and "how would you rate" are question forms, but their "wrong" and "rate" still count as quality words. */
function inheritQuality(root: TrieNode, phrase: readonly string[]): void {
  for (const word of phrase) {
    const meaning = root.next.get(word)?.meaning;
    if (meaning?.classes.has('assess')) addPhrase(root, phrase, { class: 'assess' });
    if (meaning?.classes.has('quality'))
      addPhrase(root, phrase, { class: 'quality', ...(meaning.polarity && { polarity: meaning.polarity }) });
  }
}

function findLongestMatch(
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
