// Computes how likely the parse of a question is right: a logistic curve over uncertainty features (configs/planner-confidence.yaml).
import { FEATURE_NAMES, type ConfidenceWeights, type UncertaintyFeatures } from './confidence-weights.ts';
import { GRAMMAR_CLASSES } from './words/lexicon-file.ts';
import type { ObjectMention } from './noun-phrases.ts';
import { is, type Segment } from './words/segments.ts';
import type { SubjectScores } from './subject.ts';

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

const FUNCTION_WORDS = GRAMMAR_CLASSES.filter((name) => name !== 'verb' && name !== 'attribute');

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
