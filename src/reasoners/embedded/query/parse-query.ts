// Parses a question with lexicon and grammar: what it asks, about which objects and distortions, and how sure that is.
import type { DistortionCategory } from '../../../../schemas/vocabulary.ts';
import { weakMemoize } from '../../../lib/weak-memoize.ts';
import type { Question } from '../../reasoner.ts';
import { detectAnswerForm, detectPolarity, type AskedPolarity } from './answer-form.ts';
import { splitOptions, type AnswerOption } from './answer-options.ts';
import { computeConfidence, type ConfidenceInputs } from './confidence.ts';
import { assignCategoriesToObjects, dropPlaceMentions, findNamedCategories, findNamedVariants } from './distortions.ts';
import type { AnswerForm } from './words/lexicon-file.ts';
import type { Lexicon } from './words/lexicon.ts';
import { countNarrativeClauses, findNarrativeAsides } from './narrative.ts';
import { findObjects } from './objects.ts';
import { is, segmentTokens } from './words/segments.ts';
import { classifyQuery, scoreSubject } from './subject.ts';
import {
  cleanText,
  correctSpelling,
  isTooLong,
  looksLikeCode,
  replaceFileNames,
  tokenize,
  tokenizeOption,
} from './words/tokens.ts';
import { findTools, type NamedTool } from './tool-names.ts';

export interface ParsedQuery {
  readonly queryType: 'IQA' | 'Other';
  /** Names as the user wrote them; empty means the whole image. */
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
  /** The variant that all mentions of a category mean; a category without an entry is meant as a whole. */
  readonly variants: ReadonlyMap<DistortionCategory, string>;
  /** Categories that are named only as the thing treated ("the denoising"), not as its effect. */
  readonly treatments: readonly DistortionCategory[];
  /** Whether it offers alternatives ("blurry or noisy"). */
  readonly alternatives: boolean;
  /** 0 to 1: how likely the plan is right. */
  readonly confidence: number;
}

export interface Vocabulary {
  lexicon: Lexicon;
  tools: readonly NamedTool[];
}

/** Below this the parse is not trusted: the plan examines the whole image for all distortions. */
export const MIN_TRUSTED_CONFIDENCE = 0.5;

export interface QueryParser {
  /** Parses each run's question once: planner, localization and summarizer share the result. */
  parseQuestion: (question: Question) => ParsedQuery;
  parseText: (text: string) => ParsedQuery;
}

export function createQueryParser(vocabulary: Vocabulary): QueryParser {
  return {
    parseQuestion: weakMemoize(({ query, choices }: Question) => parseQuery(query, vocabulary, choices)),
    parseText: (text) => parseQuery(text, vocabulary),
  };
}

export function parseQuery(query: string, vocabulary: Vocabulary, choices: readonly string[] = []): ParsedQuery {
  const { parsed, inputs } = analyzeQuery(query, vocabulary, choices);
  const confidence = computeConfidence(inputs, vocabulary.lexicon.confidence);
  if (confidence >= MIN_TRUSTED_CONFIDENCE) return { ...parsed, confidence };
  // A parse that is more likely wrong than right asks for everything; it is off-topic only if its words say so.
  const { queryType } = inputs.subject.other > 0 ? parsed : { queryType: 'IQA' as const };
  return { ...parsed, queryType, objects: [], distortions: null, confidence };
}

interface QueryAnalysis {
  parsed: Omit<ParsedQuery, 'confidence'>;
  inputs: ConfidenceInputs;
}

/** The parse before its confidence is known, and the inputs of that confidence: calibration needs both. */
export function analyzeQuery(
  query: string,
  { lexicon, tools }: Vocabulary,
  choices: readonly string[] = [],
): QueryAnalysis {
  const { stem: asWritten, options } = splitOptions(
    cleanText(query),
    choices.map((choice) => cleanText(choice)),
  );
  const stem = replaceFileNames(asWritten);
  const tokens = tokenize(stem);
  const toolMentions = findTools(tokens, tools, lexicon);
  const segments = segmentTokens(correctSpelling(stem, tokens, lexicon), lexicon, toolMentions);
  const included = segments.filter((segment) => !segment.excluded);
  const optionSegments = options.map((option) => segmentTokens(tokenizeOption(option.text, lexicon), lexicon, []));
  const considered = [...included, ...optionSegments.flat()];
  const hint = scoreSubject(considered, lexicon);
  const mentions = findObjects({ text: stem, segments, lexicon }, hint.quality + hint.other > 0);
  const objects = mentions.filter((mention) => mention.askedAbout);
  const isInName = (index: number): boolean => mentions.some(({ from, to }) => index >= from && index < to);
  // "the text on the billboard" is an object, "good enough for a billboard" a purpose.
  const mediaInNames = new Set(segments.filter((segment, index) => is(segment, 'medium') && isInName(index)));
  const asides = findNarrativeAsides({ text: stem, segments });
  const subject = scoreSubject(
    considered.filter((segment) => !mediaInNames.has(segment) && !asides.has(segment)),
    lexicon,
  );
  const { form, recognised } = detectAnswerForm(segments, options.length > 0, query.trimEnd().endsWith('?'));
  const queryType = classifyQuery(subject, recognised, objects, segments);
  // "dark" in "the dark sky" belongs to the name.
  const outsideNames = dropPlaceMentions(segments.filter((segment, index) => !segment.excluded && !isInName(index)));
  const categories = findNamedCategories([outsideNames, ...optionSegments]);
  const parsed = {
    queryType,
    objects: objects.map((mention) => mention.name),
    distortions:
      queryType === 'IQA' && categories.length > 0 ? assignCategoriesToObjects(segments, objects, categories) : null,
    tool: toolMentions.find((mention) => !mention.refused)?.name ?? null,
    options,
    comparesWithReference: included.some((segment) => is(segment, 'reference')),
    form,
    polarity: detectPolarity(segments),
    variants: findNamedVariants(outsideNames),
    treatments: categories.filter(
      (category) =>
        ![outsideNames, ...optionSegments]
          .flat()
          .some((segment) => is(segment, 'distortion') && segment.meaning?.category === category),
    ),
    alternatives: included.some((segment) => segment.words === 'or'),
  };
  return {
    parsed,
    inputs: {
      segments,
      mentions,
      narrativeClauses: countNarrativeClauses({ text: stem, segments }),
      // A question about content ("Is the man wearing a hat?") may have no word that names its subject.
      subject: queryType === 'Other' && subject.other === 0 ? { ...subject, other: 1 } : subject,
      categories: categories.length,
      formRecognised: recognised,
      isQuestion: !isTooLong(query) && !looksLikeCode(query),
      isListed: (word) => lexicon.things.has(word) || lexicon.nouns.has(word),
      isForeign: (word) => lexicon.foreign.has(word),
    },
  };
}
