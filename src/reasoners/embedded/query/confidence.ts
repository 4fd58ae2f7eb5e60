// Last step of understanding: how likely the reading is right, from signs of trouble weighed by what fitting found (configs/planner-confidence.yaml).
import { readFileSync } from 'node:fs';
import Type, { type Static } from 'typebox';
import { parse as parseYaml } from 'yaml';
import { defineModel, parse } from '../../../../schemas/validation/model.ts';
import type { WordClass } from './lexicon.ts';
import type { ObjectMention } from './objects.ts';
import { is, type Segment } from './segments.ts';

/** Each is 0 where nothing is doubtful. */
export interface Doubts {
  /** Share of the content words that no list knows and no object explains. */
  unknown_words: number;
  /** Share of the content words that are objects only by their place in the sentence. */
  unlisted_objects: number;
  /** Words read as a known one with a slip. */
  slips: number;
  /** Objects without an article. */
  bare_objects: number;
  /** Things mentioned that are not what is asked about. */
  passing_things: number;
  /** Sentence parts that tell a story beside the question. */
  told_parts: number;
  /** More than one thing or flaw: which belongs to which is a guess. */
  combinations: number;
  /** Words of quality and of taste or content in one query, nearly balanced. */
  mixed_subject: number;
  /** Only words that serve other talk as well speak of the subject. */
  vague_subject: number;
  /** The kind of question is only the best guess. */
  unrecognised_form: number;
  /** Sentence parts beyond the second that do not tell, and words beyond the twentieth by tens. */
  length: number;
}

export interface ConfidenceWeights {
  intercept: number;
  doubts: Readonly<Record<keyof Doubts, number>>;
}

export interface Reading {
  segments: readonly Segment[];
  things: readonly ObjectMention[];
  /** Parts of the query that tell rather than ask. */
  toldParts: number;
  /** How strongly its words speak of quality, and of taste or content. */
  subject: { quality: number; other: number };
  categories: number;
  formRecognised: boolean;
  /** False for what is too long to be read, or a program. */
  isQuestion: boolean;
  isListed: (word: string) => boolean;
  isForeign: (word: string) => boolean;
}

const NAMES = [
  'unknown_words',
  'unlisted_objects',
  'slips',
  'bare_objects',
  'passing_things',
  'told_parts',
  'combinations',
  'mixed_subject',
  'vague_subject',
  'unrecognised_form',
  'length',
] as const satisfies readonly (keyof Doubts)[];
const Weight = Type.Number({ maximum: 0 });
const ConfidenceFile = defineModel(
  'PlannerConfidence',
  Type.Object(
    {
      fitted_on: Type.String({ minLength: 1 }),
      intercept: Type.Number(),
      doubts: Type.Object(
        Object.fromEntries(NAMES.map((name) => [name, Weight])) as Record<keyof Doubts, typeof Weight>,
        { additionalProperties: false },
      ),
    },
    { additionalProperties: false },
  ),
);

export function loadConfidenceWeights(path: string): ConfidenceWeights {
  const { intercept, doubts }: Static<typeof ConfidenceFile> = parse(
    ConfidenceFile,
    parseYaml(readFileSync(path, 'utf8')),
  );
  return { intercept, doubts };
}

/** Never 1: words alone do not make sure. */
const MAX = 0.99;
/** What is no question in English of this kind at all, whatever single words it contains. */
const CAP_UNREADABLE = 0.2;
const MAX_UNKNOWN_SHARE = 0.6;
const LONG_QUESTION = 120;
const MAX_HEAP = 6;

export function weighConfidence(reading: Reading, { intercept, doubts: weights }: ConfidenceWeights): number {
  const doubts = doubtsOf(reading);
  const sum = NAMES.reduce((total, name) => total + weights[name] * doubts[name], intercept);
  const probability = 1 / (1 + Math.exp(-sum));
  return Math.round(Math.min(probability, MAX, isReadable(reading, doubts) ? 1 : CAP_UNREADABLE) * 100) / 100;
}

/** The fit does not see such queries: they are no questions that a person would label. */
function isReadable({ segments, subject, isQuestion, isForeign, isListed }: Reading, doubts: Doubts): boolean {
  const words = segments.reduce((sum, segment) => sum + segment.wordCount, 0);
  const isStrange = (segment: Segment): boolean =>
    /[^\p{Script=Latin}\p{N}\p{P}\p{S}\s]/u.test(segment.words) ||
    (segment.meaning === null && !isListed(segment.words) && /[^\p{ASCII}]/u.test(segment.words));
  const foreign = segments.filter((segment) => isForeign(segment.words) || isStrange(segment)).length;
  const hasSubject = subject.quality + subject.other > 0;
  // Who gives orders to the machine does not ask about a picture; a heap of words without grammar says nothing of which belongs to which.
  const commandsMachine = segments.some((segment) => is(segment, 'machine'));
  const isHeap =
    words > MAX_HEAP &&
    !segments.some(
      (segment, index) =>
        is(segment, ...FUNCTION_WORDS, 'form', 'request', 'verb') || (index > 0 && segment.boundary !== 'none'),
    );
  return (
    isQuestion &&
    !commandsMachine &&
    !isHeap &&
    words <= LONG_QUESTION &&
    hasSubject &&
    foreign * 5 < words &&
    doubts.unknown_words <= MAX_UNKNOWN_SHARE
  );
}

const FUNCTION_WORDS: readonly WordClass[] = [
  'determiner',
  'preposition',
  'aside',
  'purpose',
  'conjunction',
  'than',
  'auxiliary',
  'pronoun',
  'adverb',
  'negation',
  'excess',
];

export function doubtsOf({
  segments,
  things,
  toldParts,
  subject,
  categories,
  formRecognised,
  isListed,
}: Reading): Doubts {
  let [content, unknown, unlisted] = [0, 0, 0];
  segments.forEach((segment, index) => {
    if (
      /^\d+$/.test(segment.words) ||
      (is(segment, ...FUNCTION_WORDS) && !is(segment, 'quality', 'distortion', 'other', 'place'))
    )
      return;
    content += segment.wordCount;
    if (segment.meaning || isListed(segment.words)) return;
    if (things.some((mention) => index >= mention.from && index < mention.to)) unlisted += 1;
    else unknown += 1;
  });
  const asked = things.filter((mention) => mention.askedAbout);
  const [weaker, stronger] = [Math.min(subject.quality, subject.other), Math.max(subject.quality, subject.other)];
  const parts = segments.filter((segment) => segment.boundary === 'stop').length;
  const words = segments.reduce((sum, segment) => sum + segment.wordCount, 0);
  return {
    unknown_words: content === 0 ? 1 : unknown / content,
    unlisted_objects: content === 0 ? 0 : unlisted / content,
    slips: Math.min(2, segments.filter((segment) => segment.slipped).length),
    bare_objects: asked.filter((mention) => !mention.determined).length > 0 ? 1 : 0,
    passing_things: Math.min(2, things.length - asked.length),
    told_parts: Math.min(2, toldParts),
    combinations: Math.min(3, Math.max(0, asked.length - 1) + (asked.length > 1 ? Math.max(0, categories - 1) : 0)),
    mixed_subject: stronger === 0 ? 0 : weaker / stronger,
    vague_subject: stronger <= 1 ? 1 : stronger === 2 ? 0.5 : 0,
    unrecognised_form: formRecognised ? 0 : 1,
    length: Math.max(0, parts - 1 - toldParts) + Math.max(0, words - 20) / 10,
  };
}
