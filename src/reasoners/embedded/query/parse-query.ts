// The planner's ears without a model: reads a question with lexicon and grammar and says what is asked, about what, and how sure it is.
import { LRUCache } from 'lru-cache';
import type { DistortionCategory } from '../../../../schemas/vocabulary.ts';
import { recogniseForm, recognisePolarity, type AskedPolarity } from './answer-form.ts';
import { assignToObjects, namedCategories, namedSides, withoutPlaces } from './distortions.ts';
import { weighConfidence, type Reading } from './confidence.ts';
import type { AnswerForm, Lexicon } from './lexicon.ts';
import { findObjects, type ObjectMention } from './objects.ts';
import { splitOptions, type AnswerOption } from './answer-options.ts';
import { is, opensClause, segmentTokens, type Segment } from './segments.ts';
import { countTold, toldAsides } from './narrative.ts';
import { cleanText, isTooLong, looksLikeCode, spell, tokenize, tokenizeOption, withoutFileNames } from './tokens.ts';
import { findTools, type NamedTool } from './tool-names.ts';

export type { AnswerOption } from './answer-options.ts';

export interface Understanding {
  readonly queryType: 'IQA' | 'Other';
  /** Names as the user wrote them; empty means the whole picture. */
  readonly objects: readonly string[];
  /** By object or "Global"; null when the query names none. */
  readonly distortions: Readonly<Record<string, readonly DistortionCategory[]>> | null;
  /** Registry name. */
  readonly tool: string | null;
  readonly options: readonly AnswerOption[];
  readonly comparesWithReference: boolean;
  readonly form: AnswerForm;
  /** Whether its words complain or praise; null where neither, or where the query offers both ("legible or too blurry"). */
  readonly polarity: AskedPolarity | null;
  /** The side of a category that all its mentions mean; a category without an entry is meant as a whole. */
  readonly sides: ReadonlyMap<DistortionCategory, string>;
  /** Categories that are named only as what was treated ("the denoising"), not as what it did. */
  readonly treatments: readonly DistortionCategory[];
  /** Whether its parts are offered as alternatives ("blurry or noisy"). */
  readonly alternatives: boolean;
  /** 0 to 1: how likely the plan is right. */
  readonly confidence: number;
}

export interface Vocabulary {
  lexicon: Lexicon;
  tools: readonly NamedTool[];
}

/** Below this the words are not trusted: the plan looks at the whole picture for everything. */
export const TRUSTED = 0.5;

/** Planner, places and summarizer each ask what a question means, and many people ask the same: by vocabulary, then by question. */
const remembered = new WeakMap<Vocabulary, LRUCache<string, Understanding>>();
const REMEMBERED_QUERIES = 200;
const REMEMBERED_LENGTH = 500;

export function understandQuery(query: string, vocabulary: Vocabulary, choices: readonly string[] = []): Understanding {
  if (query.length > REMEMBERED_LENGTH || choices.length > 0) return understand(query, vocabulary, choices);
  const known = remembered.get(vocabulary) ?? new LRUCache<string, Understanding>({ max: REMEMBERED_QUERIES });
  remembered.set(vocabulary, known);
  const understood = known.get(query) ?? understand(query, vocabulary, choices);
  known.set(query, understood);
  return understood;
}

function understand(query: string, vocabulary: Vocabulary, choices: readonly string[]): Understanding {
  const { understanding, reading } = readQuery(query, vocabulary, choices);
  const confidence = weighConfidence(reading, vocabulary.lexicon.confidence);
  if (confidence >= TRUSTED) return { ...understanding, confidence };
  // A reading that is more likely wrong than right asks for everything instead; taste or content is then no more certain.
  const { queryType } = reading.subject.other > 0 ? understanding : { queryType: 'IQA' as const };
  return { ...understanding, queryType, objects: [], distortions: null, confidence };
}

interface ReadQuery {
  understanding: Omit<Understanding, 'confidence'>;
  reading: Reading;
}

/** The reading itself and what it rests on, before any doubt: fitting the confidence needs both. */
export function readQuery(query: string, { lexicon, tools }: Vocabulary, choices: readonly string[] = []): ReadQuery {
  const { stem: asWritten, options } = splitOptions(
    cleanText(query),
    choices.map((choice) => cleanText(choice)),
  );
  const stem = withoutFileNames(asWritten);
  const written = tokenize(stem);
  const mentions = findTools(written, tools, lexicon);
  const segments = segmentTokens(spell(stem, written, lexicon), lexicon, mentions);
  const asked = segments.filter((segment) => !segment.excluded);
  const optionSegments = options.map((option) => segmentTokens(tokenizeOption(option.text, lexicon), lexicon, []));
  const spoken = [...asked, ...optionSegments.flat()];
  const hint = weighSubject(spoken, lexicon);
  const things = findObjects({ text: stem, segments, lexicon }, hint.quality + hint.other > 0);
  const objects = things.filter((mention) => mention.askedAbout);
  // "the text on the billboard" is a thing, "good enough for a billboard" a purpose.
  const isInName = (index: number): boolean => things.some((mention) => index >= mention.from && index < mention.to);
  const named = new Set(segments.filter((segment, index) => is(segment, 'medium') && isInName(index)));
  const told = toldAsides({ text: stem, segments });
  const subject = weighSubject(
    spoken.filter((segment) => !named.has(segment) && !told.has(segment)),
    lexicon,
  );
  const { form, recognised } = recogniseForm(segments, options.length > 0, query.trimEnd().endsWith('?'));
  const queryType = decideType(subject, recognised, objects, segments);
  // "dark" in "the dark sky" belongs to the name.
  const outsideNames = withoutPlaces(segments.filter((segment, index) => !segment.excluded && !isInName(index)));
  const categories = namedCategories([outsideNames, ...optionSegments]);
  const understanding = {
    queryType,
    objects: objects.map((mention) => mention.name),
    distortions: queryType === 'IQA' && categories.length > 0 ? assignToObjects(segments, objects, categories) : null,
    tool: mentions.find((mention) => !mention.refused)?.name ?? null,
    options,
    comparesWithReference: asked.some((segment) => is(segment, 'reference')),
    form,
    polarity: recognisePolarity(segments),
    sides: namedSides(outsideNames),
    treatments: categories.filter(
      (category) =>
        ![outsideNames, ...optionSegments]
          .flat()
          .some((segment) => is(segment, 'distortion') && segment.meaning?.category === category),
    ),
    alternatives: asked.some((segment) => segment.words === 'or'),
  };
  const isListed = (word: string): boolean => lexicon.things.has(word) || lexicon.nouns.has(word);
  return {
    understanding,
    // A question for content ("Is the man wearing a hat?") has its subject, though no word of its own for it.
    reading: {
      segments,
      things,
      toldParts: countTold({ text: stem, segments }),
      subject: queryType === 'Other' && subject.other === 0 ? { ...subject, other: 1 } : subject,
      categories: categories.length,
      formRecognised: recognised,
      isQuestion: !isTooLong(query) && !looksLikeCode(query),
      isListed,
      isForeign: (word) => lexicon.foreign.has(word),
    },
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
    if (
      segment.meaning === null &&
      lexicon.things.has(segment.words) &&
      /^(what|(what|which) (kind|type|sort)s? of)$/.test(before)
    )
      subject.other += 3;
    else if (segment.meaning === null && lexicon.things.has(segment.words) && before === 'which') subject.other += 1;
    else if (is(segment, 'tool')) subject.quality += 4;
    // "What went wrong when he took it": a circumstance, not a date asked for.
    else if (
      segment.words === 'when' &&
      segments.slice(0, index).some((earlier) => is(earlier, 'quality', 'distortion'))
    )
      continue;
    else if (is(segment, 'other')) subject.other += isAskedFor ? 4 : 3;
    else if (is(segment, 'distortion', 'process')) subject.quality += isDouble ? 2 : 3;
    else if (is(segment, 'taste')) subject.other += 1;
    else if (is(segment, 'quality')) subject.quality += segment.meaning?.polarity === 'virtue' ? 1 : 2;
    // "Rate this photo." leaves nothing open.
    else if (is(segment, 'assess') && ratesPicture(segments, index)) subject.quality += 2;
    else if (is(segment, 'assess', 'reference', 'medium')) subject.quality += 1;
  }
  return subject;
}

/** A verb of assessment with the picture as its object. */
function ratesPicture(segments: readonly Segment[], index: number): boolean {
  const object =
    segments[is(segments[index + 1], 'determiner') && is(segments[index + 2], 'picture') ? index + 2 : index + 1];
  return is(object, 'picture') || /^(it|this)$/.test(object?.words ?? '');
}

/** A well-formed question about a thing, without any word of quality, asks for content ("Is the man wearing a hat?"). */
function decideType(
  subject: Subject,
  formRecognised: boolean,
  objects: readonly ObjectMention[],
  segments: readonly Segment[],
): 'IQA' | 'Other' {
  if (subject.other > subject.quality) return 'Other';
  const asks = formRecognised || ordersReading(segments);
  const asksForContent =
    subject.quality === 0 && asks && (objects.some((mention) => mention.determined) || asksForKind(segments));
  return asksForContent ? 'Other' : 'IQA';
}

/** "Read the text on the sign." wants its words; "can you read …?" asks whether they are legible. */
const ordersReading = (segments: readonly Segment[]): boolean =>
  segments.some(
    (segment, index) =>
      /^(read|transcribe)$/.test(segment.words) && (opensClause(segment) || is(segments[index - 1], 'request')),
  );

/** "Is it an oil painting?", "Is this a real photo?" */
const asksForKind = (segments: readonly Segment[]): boolean =>
  segments.some(
    (segment, index) =>
      is(segment, 'auxiliary') &&
      opensClause(segment) &&
      /^(it|this|that)$/.test(segments[index + 1]?.words ?? '') &&
      /^an?$/.test(segments[index + 2]?.words ?? ''),
  );
