// Part of understanding: the small grammar that finds the objects a query is about, without a list of all objects.
import type { Lexicon } from './lexicon.ts';
import { is, opensClause, type Segment } from './segments.ts';
import { isOnlyTold } from './narrative.ts';

export interface ObjectMention {
  /** As the user wrote it: "woman's face", "text on the sign". */
  name: string;
  /** Segments `from` up to but not including `to`. */
  from: number;
  to: number;
  /** Introduced by an article, a possessive and the like. */
  determined: boolean;
  /** False for a thing mentioned in passing: a cause, a purpose, where the object stands. */
  askedAbout: boolean;
}

interface Sentence {
  text: string;
  segments: readonly Segment[];
  lexicon: Lexicon;
}

/** A name is a few words, a question about a few things: more is not a question of this kind. */
const MAX_NAME_WORDS = 8;
const MAX_OBJECTS = 8;

/** `hasSubject`: the query speaks of quality or taste; without that only "the …" counts as naming something. */
export function findObjects(sentence: Sentence, hasSubject: boolean): ObjectMention[] {
  const asked: ObjectMention[] = [];
  const passing: ObjectMention[] = [];
  for (let position = 0; position < sentence.segments.length && asked.length < MAX_OBJECTS;) {
    const phrase = readNounPhrase(sentence, position);
    const mention = phrase && extendName(sentence, phrase);
    if (mention) {
      const isNamed = (hasSubject || mention.determined) && isAskedAbout(sentence, position, mention, asked.at(-1));
      const isNew = !asked.some((known) => known.name.toLowerCase() === mention.name.toLowerCase());
      if (isNamed && isNew) asked.push(mention);
      else if (mention.determined) passing.push({ ...mention, askedAbout: false });
    }
    position = mention ? mention.to : position + 1;
  }
  return [...asked, ...passing];
}

/** Determiner, modifiers, nouns: "the", "red", "car". Words of quality before the noun ("the blurry car") are left out of the name. */
function readNounPhrase(sentence: Sentence, start: number): ObjectMention | null {
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
  // "This product photo" is the picture itself.
  if (lastNoun < 0 || (continues(segments[lastNoun + 1]) && is(segments[lastNoun + 1], 'picture'))) return null;
  return { name: nameOf(sentence, from, lastNoun + 1), from, to: lastNoun + 1, determined, askedAbout: true };
}

const continues = (segment: Segment | undefined): boolean =>
  segment?.boundary === 'none' || segment?.boundary === 'joined';

function skipJudgements(segments: readonly Segment[], start: number, lexicon: Lexicon): number {
  let position = start;
  for (; continues(segments[position + 1]); position += 1) {
    const segment = segments[position];
    const isJudgement =
      is(segment, 'distortion', 'quality', 'adverb', 'taste') ||
      (is(segment, 'other') && segments[position + 1]?.meaning === null);
    if (!isJudgement || is(segment, 'attribute') || isPostponed(segment) || lexicon.ambiguous.has(segment?.words ?? ''))
      break;
  }
  return position;
}

/** "good enough" and "in focus" follow their noun, so what comes next is not it. */
const isPostponed = (segment: Segment | undefined): boolean => /\benough$|^(in|out|off) /.test(segment?.words ?? '');

function isHead(sentence: Sentence, position: number, lastNoun: number): boolean {
  const compound =
    lastNoun >= 0 &&
    lastNoun === position - 1 &&
    sentence.lexicon.compoundHeads.has(sentence.segments[position]?.words ?? '');
  return compound || isNoun(sentence, position);
}

/** "the car's paint": behind a possessive stands a noun, whatever else the word may be. */
const isPossessed = ({ segments }: Sentence, position: number): boolean =>
  segments[position - 1]?.words === "'s" &&
  segments[position - 2]?.meaning === null &&
  is(segments[position], 'verb', 'abstraction', 'medium') &&
  !is(segments[position], 'quality', 'distortion');

const BESIDES = ['attribute', 'abstraction', 'medium'] as const;

function isNoun(sentence: Sentence, position: number): boolean {
  const segment = sentence.segments[position];
  if (!segment || segment.excluded || !/\p{L}/u.test(segment.words)) return false;
  if (isPossessed(sentence, position)) return true;
  // "the number on the jersey" is written there, "a number of flaws" is not.
  if (
    /^(number|numbers|word|words|name|names|title)$/.test(segment.words) &&
    sentence.segments[position + 1]?.words === 'on'
  )
    return is(sentence.segments[position - 1], 'determiner');
  // "the glass", "a red table": words that also have another use.
  if (segment.meaning)
    return (
      sentence.lexicon.things.has(segment.words) &&
      is(segment, ...BESIDES) &&
      is(sentence.segments[position - 1], 'determiner', 'attribute')
    );
  return (
    sentence.lexicon.things.has(segment.words) ||
    sentence.lexicon.nouns.has(segment.words) ||
    !looksLikeAnotherClass(sentence, position, segment.words)
  );
}

/** "execution", "treatment", "brilliance": what can be seen and ends so is listed ("station"). */
const ABSTRACT_ENDING = /(?:[st]ion|ment|ness|ity|[ae]nce|ism|ship|ology)s?$/;

/** English endings stand in for a dictionary: adverbs, participles and adjectives are not names by themselves. */
function looksLikeAnotherClass(sentence: Sentence, position: number, word: string): boolean {
  const next = sentence.segments[position + 1];
  if (word.endsWith('ly')) return !continues(next) || is(next, 'distortion', 'quality', 'adverb');
  if (/[^e]ed$|able$|ible$|less$|ous$|ful$/.test(word) && word.length > 4) return true;
  if (ABSTRACT_ENDING.test(word) && word.length > 6) return true;
  if (!word.endsWith('ing') || word.length < 6) return false;
  const opensName = is(sentence.segments[position - 1], 'determiner');
  return (
    !opensName || (continues(next) && (is(next, 'other', 'abstraction', 'picture', 'taste') || next?.meaning === null))
  );
}

/** "the man riding a horse": a verb that ties two nouns together, unlike "building". */
function isParticiple({ segments, lexicon }: Sentence, position: number): boolean {
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

/** Inside a name: a colour or size before the noun, "'s" after one, and after an article also "dark sky" or "number plate". */
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

/** "text on the sign" is one name; "building in the background" is a building, the rest says only where. */
function extendName(sentence: Sentence, phrase: ObjectMention): ObjectMention {
  const { segments } = sentence;
  let mention = phrase;
  for (let links = 0; links < 3; links += 1) {
    const link = segments[mention.to];
    if (!continues(link) || !(is(link, 'preposition') || isParticiple(sentence, mention.to))) return mention;
    const participle = isParticiple(sentence, mention.to) && is(segments[mention.to + 1], 'preposition');
    const after = mention.to + (participle ? 2 : 1);
    const second = readNounPhrase(sentence, after);
    const end = second ? second.to : skipPlace(segments, after);
    if (end === after) return mention;
    const grows = second !== null && second.to - mention.from <= MAX_NAME_WORDS;
    mention = { ...mention, to: end, name: grows ? nameOf(sentence, mention.from, end) : mention.name };
  }
  return mention;
}

/** Behind a preposition: "the background", "this picture", "the upper left". */
function skipPlace(segments: readonly Segment[], start: number): number {
  let position = start;
  while (
    continues(segments[position]) &&
    is(segments[position], 'determiner', 'attribute', 'place', 'picture', 'reference')
  )
    position += 1;
  return is(segments[position - 1], 'place', 'picture', 'attribute', 'reference') ? position : start;
}

/** Whether the place in the sentence makes the noun the thing asked about, not a cause, a purpose or a stray word. */
function isAskedAbout(
  { text, segments, lexicon }: Sentence,
  start: number,
  mention: ObjectMention,
  previous: ObjectMention | undefined,
): boolean {
  const before = segments[start - 1];
  if (
    is(before, 'aside') ||
    isMeasureOf(segments, mention) ||
    isAgent(segments, start, mention) ||
    isOnlyTold({ text, segments }, { start, from: mention.from, to: mention.to })
  )
    return false;
  // "Is it a beautiful landscape?" asks what the picture is.
  const isPredicate = /^(it|this|that)$/.test(before?.words ?? '') && is(segments[start - 2], 'auxiliary');
  if (isPredicate && /^an?$/.test(segments[start]?.words ?? '')) return false;
  // "Is it the screen or the image?" looks for the cause; "is it the dog that is blurry?" for the dog.
  if (
    isPredicate &&
    is(segments[mention.to], 'conjunction') &&
    !segments.slice(mention.to).some((segment) => is(segment, 'distortion', 'quality'))
  )
    return false;
  // "The photo of the dog", "the image in the mail" is the whole picture.
  if (/^(of|in|from)$/.test(before?.words ?? '') && is(segments[start - 2], 'picture')) return false;
  // "Good enough for a poster" says what for; "what is the SSIM for the face" says of what.
  if (is(before, 'preposition') && is(segments[start - 2], 'medium') && !is(segments[start - 2], 'picture'))
    return false;
  if (is(before, 'purpose')) {
    return (
      mention.determined &&
      !/^(an?|any|some|every)$/.test(segments[start]?.words ?? '') &&
      !is(segments[start - 2], 'quality', 'distortion', 'medium', 'adverb')
    );
  }
  const between = previous ? segments.slice(previous.to, start) : [];
  if (
    previous &&
    is(before, 'preposition') &&
    !between.some((segment) => is(segment, 'conjunction', 'than') || opensClause(segment))
  )
    return false;
  if (mention.determined) return true;
  const isListed = previous?.to === start - 1 && is(before, 'conjunction', 'than');
  const isListedByComma =
    previous?.to === start &&
    segments[start]?.boundary === 'comma' &&
    (is(segments[mention.to], 'conjunction') || segments[mention.to]?.boundary === 'comma');
  const isSubject =
    before === undefined || opensClause(segments[start] ?? before)
      ? is(segments[mention.to], 'distortion', 'quality')
      : is(before, 'auxiliary', 'assess', 'than') ||
        before.words.endsWith(' there') ||
        before.words === 'how many' ||
        (is(before, 'preposition') && before.words !== 'to' && before.words !== 'with' && before.words !== 'about');
  return (isListed || isListedByComma || isSubject) && isNominal(mention, lexicon);
}

/** "A trace of blur", "the presence of grain": how much of the flaw, not a thing. */
function isMeasureOf(segments: readonly Segment[], { to }: ObjectMention): boolean {
  let position = to + 1;
  while (is(segments[position], 'determiner', 'adverb', 'attribute', 'level')) position += 1;
  return (
    segments[to]?.words === 'of' &&
    is(segments[position], 'distortion', 'quality') &&
    !is(segments[position], 'picture', 'place')
  );
}

/** Verbs by which a thing has a flaw or a virtue rather than causes it. */
const HAVING =
  /^(show|exhibit|display|contain|have|suffer|lack|lose|retain|keep|preserve|need|look|appear|seem|get)(s|ed|n)?$/;

/** "Did the printer spoil the contrast?": who did it, not what it is seen on. */
function isAgent(segments: readonly Segment[], start: number, { to }: ObjectMention): boolean {
  const verb = segments[to];
  return (
    /^(did|has|have)$/.test(segments[start - 1]?.words ?? '') &&
    is(verb, 'verb') &&
    !HAVING.test(verb?.words ?? '') &&
    is(segments[to + 1], 'determiner') &&
    is(segments[to + 2], 'picture', 'distortion', 'quality', 'reference')
  );
}

/** Without an article only a known thing, a plural or a proper name is a noun for sure: "usual" and "predict" are not. */
function isNominal({ name }: ObjectMention, lexicon: Lexicon): boolean {
  const last = name.toLowerCase().split(' ').at(-1) ?? '';
  return (
    lexicon.things.has(last) ||
    lexicon.nouns.has(last) ||
    lexicon.compoundHeads.has(last) ||
    /[^s]s$/.test(last) ||
    /(^|\s)\p{Lu}\p{Ll}/u.test(name)
  );
}

function nameOf({ text, segments }: Sentence, from: number, to: number): string {
  return text
    .slice(segments[from]?.start ?? 0, segments[to - 1]?.end ?? 0)
    .replace(/\s+/g, ' ')
    .trim();
}
