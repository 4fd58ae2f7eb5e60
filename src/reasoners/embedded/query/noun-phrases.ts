// Reads noun phrases: determiner, modifiers and nouns that together name an object.
import type { Lexicon } from './words/lexicon.ts';
import { is, type Segment } from './words/segments.ts';

export interface ObjectMention {
  /** As the user wrote it: "woman's face", "text on the sign". */
  name: string;
  /** Segments `from` up to but not including `to`. */
  from: number;
  to: number;
  /** Introduced by an article, a possessive and the like. */
  determined: boolean;
  /** False for an incidental mention: a cause, a purpose, a place. */
  askedAbout: boolean;
}

export interface Sentence {
  text: string;
  segments: readonly Segment[];
  lexicon: Lexicon;
}

/** In words; longer text is not a name. */
export const MAX_NAME_WORDS = 8;

/** Determiner, modifiers, nouns: "the", "red", "car". Judgements before the noun ("the blurry car") are not part of the name. */
export function readNounPhrase(sentence: Sentence, start: number): ObjectMention | null {
  const { segments, lexicon } = sentence;
  let position = start;
  while (
    position < start + 3 &&
    is(segments[position], 'determiner') &&
    (position === start || continues(segments[position]))
  )
    position += 1;
  // "Translate the text", "count the cars": phrases of the lexicon that end in the article.
  const determined = position > start || segments[start - 1]?.words.endsWith(' the') === true;
  if (determined) position = skipJudgements(segments, position, lexicon);
  const from = position;
  let lastNoun = -1;
  for (; position < from + MAX_NAME_WORDS && (position === from || continues(segments[position])); position += 1) {
    if (isHead(sentence, position, lastNoun)) lastNoun = position;
    else if (!isModifier(sentence, position, lastNoun, determined)) break;
  }
  // "This product photo" is the image itself.
  if (lastNoun < 0 || (continues(segments[lastNoun + 1]) && is(segments[lastNoun + 1], 'image'))) return null;
  return { name: readName(sentence, from, lastNoun + 1), from, to: lastNoun + 1, determined, askedAbout: true };
}

export const continues = (segment: Segment | undefined): boolean =>
  segment?.boundary === 'none' || segment?.boundary === 'joined';

function skipJudgements(segments: readonly Segment[], start: number, lexicon: Lexicon): number {
  let position = start;
  for (; continues(segments[position + 1]); position += 1) {
    const segment = segments[position];
    const isJudgement =
      is(segment, 'distortion', 'quality', 'adverb', 'taste') ||
      (is(segment, 'other') && segments[position + 1]?.meaning === null);
    if (
      !isJudgement ||
      is(segment, 'attribute') ||
      followsItsNoun(segment) ||
      lexicon.ambiguous.has(segment?.words ?? '')
    )
      break;
  }
  return position;
}

/** "good enough" and "in focus" follow their noun, so the next word is not their noun. */
const followsItsNoun = (segment: Segment | undefined): boolean => /\benough$|^(in|out|off) /.test(segment?.words ?? '');

function isHead(sentence: Sentence, position: number, lastNoun: number): boolean {
  const compound =
    lastNoun >= 0 &&
    lastNoun === position - 1 &&
    sentence.lexicon.compoundHeads.has(sentence.segments[position]?.words ?? '');
  return compound || isNoun(sentence, position);
}

/** "the car's paint": the word after a possessive is a noun, whatever else it may be. */
const followsPossessive = ({ segments }: Sentence, position: number): boolean =>
  segments[position - 1]?.words === "'s" &&
  segments[position - 2]?.meaning === null &&
  is(segments[position], 'verb', 'abstraction', 'medium') &&
  !is(segments[position], 'quality', 'distortion');

const CLASSES_OF_NOUNS = ['attribute', 'abstraction', 'medium'] as const;

function isNoun(sentence: Sentence, position: number): boolean {
  const segment = sentence.segments[position];
  if (!segment || segment.excluded || !/\p{L}/u.test(segment.words)) return false;
  if (followsPossessive(sentence, position)) return true;
  // "the number on the jersey" is an object, "a number of flaws" is not.
  if (
    /^(number|numbers|word|words|name|names|title)$/.test(segment.words) &&
    sentence.segments[position + 1]?.words === 'on'
  )
    return is(sentence.segments[position - 1], 'determiner');
  // "the glass", "a red table": words that also have another use.
  if (segment.meaning)
    return (
      sentence.lexicon.things.has(segment.words) &&
      is(segment, ...CLASSES_OF_NOUNS) &&
      is(sentence.segments[position - 1], 'determiner', 'attribute')
    );
  return (
    sentence.lexicon.things.has(segment.words) ||
    sentence.lexicon.nouns.has(segment.words) ||
    !looksLikeAnotherClass(sentence, position, segment.words)
  );
}

/** "execution", "treatment", "brilliance". Visible things with such endings ("station") are listed. */
const ABSTRACT_ENDING = /(?:[st]ion|ment|ness|ity|[ae]nce|ism|ship|ology)s?$/;

/** Recognises adverbs, participles and adjectives by their endings: they are not names by themselves. */
function looksLikeAnotherClass(sentence: Sentence, position: number, word: string): boolean {
  const next = sentence.segments[position + 1];
  if (word.endsWith('ly')) return !continues(next) || is(next, 'distortion', 'quality', 'adverb');
  if (/[^e]ed$|able$|ible$|less$|ous$|ful$/.test(word) && word.length > 4) return true;
  if (ABSTRACT_ENDING.test(word) && word.length > 6) return true;
  if (!word.endsWith('ing') || word.length < 6) return false;
  const opensName = is(sentence.segments[position - 1], 'determiner');
  return (
    !opensName || (continues(next) && (is(next, 'other', 'abstraction', 'image', 'taste') || next?.meaning === null))
  );
}

/** "the man riding a horse": a verb that joins two nouns, unlike "building". */
export function isParticiple({ segments, lexicon }: Sentence, position: number): boolean {
  const segment = segments[position];
  return (
    segment !== undefined &&
    (segment.meaning === null || is(segment, 'verb')) &&
    /(ing|[^e]ed)$/.test(segment.words) &&
    !lexicon.nouns.has(segment.words) &&
    continues(segment) &&
    is(segments[position + 1], 'determiner', 'preposition')
  );
}

/** Part of a name: a colour or size before the noun, "'s" after one, and after an article also "dark sky" or "number plate". */
function isModifier(sentence: Sentence, position: number, lastNoun: number, determined: boolean): boolean {
  const segment = sentence.segments[position];
  if (!segment || segment.excluded || !nounFollows(sentence, position + 1)) return false;
  if (segment.words === "'s") return lastNoun >= 0 && lastNoun === position - 1;
  if (segment.meaning === null || is(segment, 'attribute')) return true;
  // "the racing car", "the parked bike"
  const isParticipial = is(segment, 'verb') && /(ing|ed)$/.test(segment.words);
  return (
    determined &&
    (isParticipial || sentence.lexicon.ambiguous.has(segment.words) || is(segment, 'abstraction', 'medium', 'place'))
  );
}

function nounFollows(sentence: Sentence, start: number): boolean {
  for (let position = start; position < start + 3; position += 1) {
    const segment = sentence.segments[position];
    if (!segment || !continues(segment)) return false;
    if (isNoun(sentence, position)) return true;
    if (segment.meaning !== null && !is(segment, 'attribute')) return false;
  }
  return false;
}

export function readName({ text, segments }: Sentence, from: number, to: number): string {
  return text
    .slice(segments[from]?.start ?? 0, segments[to - 1]?.end ?? 0)
    .replace(/\s+/g, ' ')
    .trim();
}
