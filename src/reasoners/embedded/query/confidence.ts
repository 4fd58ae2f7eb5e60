// Computes how likely the parse of a question is right: a logistic curve over uncertainty features (configs/planner-confidence.yaml).
import { readFileSync } from 'node:fs';
import Type, { type Static } from 'typebox';
import { parse as parseYaml } from 'yaml';
import { defineModel, parse } from '../../../../schemas/validation/model.ts';
import type { WordClass } from './words/lexicon-file.ts';
import type { ObjectMention } from './objects.ts';
import { is, type Segment } from './words/segments.ts';
import type { SubjectScores } from './subject.ts';

/** Each is 0 where nothing is uncertain. */
export interface UncertaintyFeatures {
  /** Share of the content words that are in no list and in no object's name. */
  unknown_words: number;
  /** Share of the content words that are objects only by their position in the sentence. */
  unlisted_objects: number;
  /** Words corrected as typos. */
  typos: number;
  /** Objects without an article. */
  bare_objects: number;
  /** Objects mentioned that the question is not about. */
  incidental_objects: number;
  /** Clauses that tell a story around the question. */
  narrative_clauses: number;
  /** More than one object or flaw: which belongs to which is a guess. */
  combinations: number;
  /** How balanced words about quality and words about taste or content are. */
  mixed_subject: number;
  /** Only words with other uses name the subject. */
  vague_subject: number;
  /** The answer form is only the best guess. */
  unrecognised_form: number;
  /** Clauses beyond the second that are not narrative, plus words beyond the twentieth in tens. */
  length: number;
}

export interface ConfidenceWeights {
  intercept: number;
  weights: Readonly<Record<keyof UncertaintyFeatures, number>>;
}

export interface ConfidenceInputs {
  segments: readonly Segment[];
  mentions: readonly ObjectMention[];
  narrativeClauses: number;
  subject: SubjectScores;
  categories: number;
  formRecognised: boolean;
  /** False for program code and for text that is too long. */
  isQuestion: boolean;
  isListed: (word: string) => boolean;
  isForeign: (word: string) => boolean;
}

const FEATURE_NAMES = [
  'unknown_words',
  'unlisted_objects',
  'typos',
  'bare_objects',
  'incidental_objects',
  'narrative_clauses',
  'combinations',
  'mixed_subject',
  'vague_subject',
  'unrecognised_form',
  'length',
] as const satisfies readonly (keyof UncertaintyFeatures)[];
const Weight = Type.Number({ maximum: 0 });
const ConfidenceFile = defineModel(
  'configs/planner-confidence.yaml',
  Type.Object(
    {
      fitted_on: Type.String({ minLength: 1 }),
      intercept: Type.Number(),
      weights: Type.Object(
        Object.fromEntries(FEATURE_NAMES.map((name) => [name, Weight])) as Record<
          keyof UncertaintyFeatures,
          typeof Weight
        >,
        { additionalProperties: false },
      ),
    },
    { additionalProperties: false },
  ),
);

export function loadConfidenceWeights(path: string): ConfidenceWeights {
  const { intercept, weights }: Static<typeof ConfidenceFile> = parse(
    ConfidenceFile,
    parseYaml(readFileSync(path, 'utf8')),
  );
  return { intercept, weights };
}

/** Below 1: a parse by rules is never certain. */
const MAX_CONFIDENCE = 0.99;
/** For text that is not an English question at all, whatever words it contains. */
const MAX_UNREADABLE_CONFIDENCE = 0.2;
const MAX_UNKNOWN_SHARE = 0.6;
const MAX_QUESTION_WORDS = 120;
const MAX_WORDS_WITHOUT_GRAMMAR = 6;

export function computeConfidence(inputs: ConfidenceInputs, { intercept, weights }: ConfidenceWeights): number {
  const features = computeUncertainty(inputs);
  const sum = FEATURE_NAMES.reduce((total, name) => total + weights[name] * features[name], intercept);
  const probability = 1 / (1 + Math.exp(-sum));
  return (
    Math.round(
      Math.min(probability, MAX_CONFIDENCE, isReadable(inputs, features) ? 1 : MAX_UNREADABLE_CONFIDENCE) * 100,
    ) / 100
  );
}

/** A fixed rule: the labelled queries that the weights are fitted on contain no such text. */
function isReadable(
  { segments, subject, isQuestion, isForeign, isListed }: ConfidenceInputs,
  features: UncertaintyFeatures,
): boolean {
  const words = segments.reduce((sum, segment) => sum + segment.wordCount, 0);
  const isStrange = (segment: Segment): boolean =>
    /[^\p{Script=Latin}\p{N}\p{P}\p{S}\s]/u.test(segment.words) ||
    (segment.meaning === null && !isListed(segment.words) && /[^\p{ASCII}]/u.test(segment.words));
  const foreign = segments.filter((segment) => isForeign(segment.words) || isStrange(segment)).length;
  const hasSubject = subject.quality + subject.other > 0;
  // Orders to the machine are attempts at prompt injection.
  const commandsMachine = segments.some((segment) => is(segment, 'machine'));
  // Keywords without grammar do not say which flaw belongs to which object.
  const isKeywordList =
    words > MAX_WORDS_WITHOUT_GRAMMAR &&
    !segments.some(
      (segment, index) =>
        is(segment, ...FUNCTION_WORDS, 'form', 'request', 'verb') || (index > 0 && segment.boundary !== 'none'),
    );
  return (
    isQuestion &&
    !commandsMachine &&
    !isKeywordList &&
    words <= MAX_QUESTION_WORDS &&
    hasSubject &&
    foreign * 5 < words &&
    features.unknown_words <= MAX_UNKNOWN_SHARE
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

export function computeUncertainty({
  segments,
  mentions,
  narrativeClauses,
  subject,
  categories,
  formRecognised,
  isListed,
}: ConfidenceInputs): UncertaintyFeatures {
  let [content, unknown, unlisted] = [0, 0, 0];
  segments.forEach((segment, index) => {
    if (
      /^\d+$/.test(segment.words) ||
      (is(segment, ...FUNCTION_WORDS) && !is(segment, 'quality', 'distortion', 'other', 'place'))
    )
      return;
    content += segment.wordCount;
    if (segment.meaning || isListed(segment.words)) return;
    if (mentions.some((mention) => index >= mention.from && index < mention.to)) unlisted += 1;
    else unknown += 1;
  });
  const asked = mentions.filter((mention) => mention.askedAbout);
  const [weaker, stronger] = [Math.min(subject.quality, subject.other), Math.max(subject.quality, subject.other)];
  const sentences = segments.filter((segment) => segment.boundary === 'stop').length;
  const words = segments.reduce((sum, segment) => sum + segment.wordCount, 0);
  return {
    unknown_words: content === 0 ? 1 : unknown / content,
    unlisted_objects: content === 0 ? 0 : unlisted / content,
    typos: Math.min(2, segments.filter((segment) => segment.hasTypo).length),
    bare_objects: asked.filter((mention) => !mention.determined).length > 0 ? 1 : 0,
    incidental_objects: Math.min(2, mentions.length - asked.length),
    narrative_clauses: Math.min(2, narrativeClauses),
    combinations: Math.min(3, Math.max(0, asked.length - 1) + (asked.length > 1 ? Math.max(0, categories - 1) : 0)),
    mixed_subject: stronger === 0 ? 0 : weaker / stronger,
    vague_subject: stronger <= 1 ? 1 : stronger === 2 ? 0.5 : 0,
    unrecognised_form: formRecognised ? 0 : 1,
    length: Math.max(0, sentences - 1 - narrativeClauses) + Math.max(0, words - 20) / 10,
  };
}
