// The planner's ears without a model: reads a question with lexicon and grammar and says what is asked, about what, and how sure it is.
import type { DistortionCategory } from '../../../schemas/vocabulary.ts';
import { recogniseForm, recognisePolarity, type AskedPolarity } from './answer-form.ts';
import { assignToObjects, namedCategories, namedSides, withoutPlaces } from './distortion-mentions.ts';
import type { AnswerForm, Lexicon } from './lexicon.ts';
import { findObjects, type ObjectMention } from './objects.ts';
import { splitOptions, type AnswerOption } from './options.ts';
import { is, opensClause, segmentTokens, type Segment } from './segments.ts';
import { cleanText, isTooLong, spell, tokenize, tokenizeOption } from './tokens.ts';
import { findTools, type NamedTool } from './tool-names.ts';

export type { AnswerOption } from './options.ts';

export interface Understanding {
  queryType: 'IQA' | 'Other';
  /** Names as the user wrote them; empty means the whole picture. */
  objects: string[];
  /** By object or "Global"; null when the query names none. */
  distortions: Record<string, DistortionCategory[]> | null;
  /** Registry name. */
  tool: string | null;
  options: AnswerOption[];
  comparesWithReference: boolean;
  form: AnswerForm;
  /** Whether its words complain or praise; null where neither, or where the query offers both ("legible or too blurry"). */
  polarity: AskedPolarity | null;
  /** The side of a category that all its mentions mean; a category without an entry is meant as a whole. */
  sides: ReadonlyMap<DistortionCategory, string>;
  /** Whether its parts are offered as alternatives ("blurry or noisy"). */
  alternatives: boolean;
  /** 0 to 1: the share of the words that were understood. */
  confidence: number;
}

export interface Vocabulary {
  lexicon: Lexicon;
  tools: readonly NamedTool[];
}

/** Below this the words are not trusted: the plan looks at the whole picture for everything. */
export const TRUSTED = 0.5;

export function understandQuery(query: string, vocabulary: Vocabulary, choices: readonly string[] = []): Understanding {
  const { stem, options } = splitOptions(cleanText(query), choices.map((choice) => cleanText(choice)));
  const written = tokenize(stem);
  const mentions = findTools(written, vocabulary.tools, vocabulary.lexicon);
  const segments = segmentTokens(spell(written, vocabulary.lexicon), vocabulary.lexicon, mentions);
  const asked = segments.filter((segment) => !segment.excluded);
  const optionSegments = options.map((option) => segmentTokens(spell(tokenizeOption(option.text), vocabulary.lexicon), vocabulary.lexicon, []));
  const subject = weighSubject([...asked, ...optionSegments.flat()], vocabulary.lexicon);
  const things = findObjects({ text: stem, segments, lexicon: vocabulary.lexicon }, subject.quality + subject.other > 0);
  const objects = things.filter((mention) => mention.askedAbout);
  const { form, recognised } = recogniseForm(segments, options.length > 0, query.trimEnd().endsWith('?'));
  const queryType = decideType(subject, recognised, objects, segments);
  const confidence = weighConfidence({ segments, things, subject, recognised, queryType, tooLong: isTooLong(query) });
  const trusted = confidence >= TRUSTED;
  // "dark" in "the dark sky" belongs to the name.
  const outsideNames = segments.filter((segment, index) => !segment.excluded && !things.some((mention) => index >= mention.from && index < mention.to));
  const categories = namedCategories([withoutPlaces(outsideNames), ...optionSegments]);
  return {
    queryType,
    objects: trusted ? objects.map((mention) => mention.name) : [],
    distortions: trusted && queryType === 'IQA' && categories.length > 0 ? assignToObjects(segments, objects, categories) : null,
    tool: mentions.find((mention) => !mention.refused)?.name ?? null,
    options,
    comparesWithReference: asked.some((segment) => is(segment, 'reference')),
    form,
    polarity: recognisePolarity(segments),
    sides: namedSides(withoutPlaces(outsideNames)),
    alternatives: asked.some((segment) => segment.words === 'or'),
    confidence,
  };
}

interface Subject {
  /** Weight of the words that speak of technical quality. */
  quality: number;
  /** Weight of the words that speak of taste, feeling, style or content. */
  other: number;
}

function weighSubject(segments: readonly Segment[], lexicon: Lexicon): Subject {
  const subject = { quality: 0, other: 0 };
  for (const [index, segment] of segments.entries()) {
    // "What emotion …" asks for the emotion, whatever else the sentence mentions.
    const before = segments[index - 1]?.words ?? '';
    const isAskedFor = /^(what|which)$/.test(before);
    // A word such as "dark" or "lighting" serves talk of moods as well as of quality.
    const isDouble = lexicon.ambiguous.has(segment.words) || segment.meaning?.polarity === null;
    // "What kind of flower", "what bird": the content itself.
    if (segment.meaning === null && lexicon.things.has(segment.words) && /^(what|(what|which) (kind|type|sort)s? of)$/.test(before)) subject.other += 3;
    else if (is(segment, 'tool')) subject.quality += 4;
    else if (is(segment, 'other')) subject.other += isAskedFor ? 4 : 3;
    else if (is(segment, 'distortion', 'process')) subject.quality += isDouble ? 2 : 3;
    else if (is(segment, 'taste')) subject.other += 1;
    else if (is(segment, 'quality')) subject.quality += segment.meaning?.polarity === 'virtue' ? 1 : 2;
    else if (is(segment, 'assess', 'reference', 'medium')) subject.quality += 1;
  }
  return subject;
}

/** A well-formed question about a thing, without any word of quality, asks for content ("Is the man wearing a hat?"). */
function decideType(subject: Subject, formRecognised: boolean, objects: readonly ObjectMention[], segments: readonly Segment[]): 'IQA' | 'Other' {
  if (subject.other > subject.quality) return 'Other';
  const asksForContent = subject.quality === 0 && formRecognised && (objects.some((mention) => mention.determined) || asksForKind(segments));
  return asksForContent ? 'Other' : 'IQA';
}

/** "Is it an oil painting?", "Is this a real photo?" */
const asksForKind = (segments: readonly Segment[]): boolean => segments.some((segment, index) =>
  is(segment, 'auxiliary') && opensClause(segment) && /^(it|this|that)$/.test(segments[index + 1]?.words ?? '') && /^an?$/.test(segments[index + 2]?.words ?? ''));

interface Evidence {
  segments: readonly Segment[];
  things: readonly ObjectMention[];
  subject: Subject;
  recognised: boolean;
  queryType: 'IQA' | 'Other';
  tooLong: boolean;
}

const FUNCTION_WORDS = ['determiner', 'preposition', 'aside', 'purpose', 'conjunction', 'than', 'auxiliary', 'pronoun', 'adverb', 'negation', 'excess'] as const;
/** A question has at most about this many words; a longer text is something else that happens to contain some. */
const LONG_QUESTION = 120;

function weighConfidence({ segments, things, subject, recognised, queryType, tooLong }: Evidence): number {
  let understood = 0;
  let content = 0;
  segments.forEach((segment, index) => {
    if (/^\d+$/.test(segment.words) || (is(segment, ...FUNCTION_WORDS) && !is(segment, 'quality', 'distortion', 'other', 'place'))) return;
    const mention = things.find((candidate) => index >= candidate.from && index < candidate.to);
    content += segment.wordCount;
    understood += segment.wordCount * (segment.meaning ? 1 : !mention ? 0 : mention.determined ? 0.8 : 0.6);
  });
  const share = content === 0 ? 0.2 : understood / content;
  const hasSubject = subject.quality + subject.other > 0;
  const subjectFactor = hasSubject ? 1 : queryType === 'Other' ? 0.65 : 0.3;
  const words = segments.reduce((sum, segment) => sum + segment.wordCount, 0);
  const lengthFactor = (tooLong ? 0.3 : 1) * Math.min(1, LONG_QUESTION / Math.max(1, words));
  const confidence = 0.98 * share * subjectFactor * (recognised ? 1 : 0.85) * lengthFactor;
  return Math.round(confidence * 100) / 100;
}
