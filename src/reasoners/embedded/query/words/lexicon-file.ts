// Reads and validates configs/lexicon.yaml.
import { readFileSync } from 'node:fs';
import Type, { type Static, type TSchema } from 'typebox';
import { parse as parseYaml } from 'yaml';
import { defineModel, parse } from '../../../../../schemas/validation/model.ts';
import { DISTORTION_CATEGORIES, type DistortionCategory } from '../../../../../schemas/vocabulary.ts';

export type Polarity = 'flaw' | 'virtue';
export type AnswerForm = 'scoring' | 'multiple_choice' | 'yes_no' | 'how_much' | 'which' | 'explanation';
export type WordClass =
  | 'distortion'
  | 'process'
  | 'quality'
  | 'assess'
  | 'other'
  | 'taste'
  | 'image'
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

export const GRAMMAR_CLASSES = [
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
  images: 'image',
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
    variants: Type.Optional(Type.Record(Type.String(), Phrases)),
  },
  { additionalProperties: false },
);
const exactRecord = <K extends string, S extends TSchema>(keys: readonly K[], schema: S) =>
  Type.Object(Object.fromEntries(keys.map((key) => [key, schema])) as Record<K, S>, { additionalProperties: false });

const LexiconFile = defineModel(
  'configs/lexicon.yaml',
  Type.Object(
    {
      distortions: exactRecord(DISTORTION_CATEGORIES, ByPolarity),
      quality: exactRecord(['flaw', 'virtue', 'neutral', 'assess'], Phrases),
      other: exactRecord(['strong', 'weak'], Phrases),
      images: Phrases,
      places: Phrases,
      media: Phrases,
      abstractions: Phrases,
      reference: Phrases,
      exclusions: Phrases,
      requests: Phrases,
      levels: Phrases,
      machine: Phrases,
      forms: exactRecord(FORMS, Phrases),
      grammar: exactRecord(GRAMMAR_CLASSES, Phrases),
      ambiguous: Phrases,
      compound_heads: Phrases,
      nouns: Phrases,
    },
    { additionalProperties: false },
  ),
);
export type LexiconFile = Static<typeof LexiconFile>;

export const readLexiconFile = (path: string): LexiconFile => parse(LexiconFile, parseYaml(readFileSync(path, 'utf8')));

/** One list of the file and what its phrases mean. */
export interface Entry {
  class: WordClass;
  category?: DistortionCategory;
  polarity?: Polarity;
  form?: AnswerForm;
  variant?: string;
}

/** All lists of the file in the order in which their meanings are merged. */
export function listEntries(file: LexiconFile): (Entry & { phrases: string[] })[] {
  const distortions = DISTORTION_CATEGORIES.flatMap((category) => {
    const { flaw = [], virtue = [], neutral = [], process = [], variants = {} } = file.distortions[category];
    return [
      { class: 'distortion', category, polarity: 'flaw', phrases: flaw } as const,
      { class: 'distortion', category, polarity: 'virtue', phrases: virtue } as const,
      { class: 'distortion', category, phrases: neutral } as const,
      { class: 'process', category, phrases: process } as const,
      // After the lists that contain the same phrases.
      ...Object.entries(variants).map(
        ([variant, phrases]) => ({ class: 'distortion', category, variant, phrases }) as const,
      ),
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
