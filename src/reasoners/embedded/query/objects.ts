// Finds the objects that a question is about with a small grammar, without a list of all objects.
import { isNarrativeOnly } from './narrative.ts';
import {
  continues,
  isParticiple,
  MAX_NAME_WORDS,
  readName,
  readNounPhrase,
  type ObjectMention,
  type Sentence,
} from './noun-phrases.ts';
import type { Lexicon } from './words/lexicon.ts';
import { is, opensClause, type Segment } from './words/segments.ts';

/** More objects are not a question of this kind. */
const MAX_OBJECTS = 8;

/** `hasSubject`: the question has words about quality or taste; without them only "the …" names an object. */
export function findObjects(sentence: Sentence, hasSubject: boolean): ObjectMention[] {
  const asked: ObjectMention[] = [];
  const incidental: ObjectMention[] = [];
  for (let position = 0; position < sentence.segments.length && asked.length < MAX_OBJECTS;) {
    const phrase = readNounPhrase(sentence, position);
    const mention = phrase && extendName(sentence, phrase);
    if (mention) {
      const isNamed = (hasSubject || mention.determined) && isAskedAbout(sentence, position, mention, asked.at(-1));
      const isNew = !asked.some((known) => known.name.toLowerCase() === mention.name.toLowerCase());
      if (isNamed && isNew) asked.push(mention);
      else if (mention.determined) incidental.push({ ...mention, askedAbout: false });
    }
    position = mention ? mention.to : position + 1;
  }
  return [...asked, ...incidental];
}

/** "text on the sign" is one name; in "building in the background" the rest is only a place. */
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
    mention = { ...mention, to: end, name: grows ? readName(sentence, mention.from, end) : mention.name };
  }
  return mention;
}

/** After a preposition: "the background", "this picture", "the upper left". */
function skipPlace(segments: readonly Segment[], start: number): number {
  let position = start;
  while (
    continues(segments[position]) &&
    is(segments[position], 'determiner', 'attribute', 'place', 'image', 'reference')
  )
    position += 1;
  return is(segments[position - 1], 'place', 'image', 'attribute', 'reference') ? position : start;
}

/** Whether its position in the sentence makes the noun the object asked about, not a cause, a purpose or a stray word. */
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
    isNarrativeOnly({ text, segments }, { start, from: mention.from, to: mention.to })
  )
    return false;
  // "Is it a beautiful landscape?" asks what the image is.
  const isPredicate = /^(it|this|that)$/.test(before?.words ?? '') && is(segments[start - 2], 'auxiliary');
  if (isPredicate && /^an?$/.test(segments[start]?.words ?? '')) return false;
  // "Is it the screen or the image?" asks for the cause; "is it the dog that is blurry?" is about the dog.
  if (
    isPredicate &&
    is(segments[mention.to], 'conjunction') &&
    !segments.slice(mention.to).some((segment) => is(segment, 'distortion', 'quality'))
  )
    return false;
  // "The photo of the dog", "the image in the mail" mean the whole image.
  if (/^(of|in|from)$/.test(before?.words ?? '') && is(segments[start - 2], 'image')) return false;
  // "Good enough for a poster" names a purpose; "what is the SSIM for the face" names an object.
  if (is(before, 'preposition') && is(segments[start - 2], 'medium') && !is(segments[start - 2], 'image')) return false;
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

/** "A trace of blur", "the presence of grain": an amount, not an object. */
function isMeasureOf(segments: readonly Segment[], { to }: ObjectMention): boolean {
  let position = to + 1;
  while (is(segments[position], 'determiner', 'adverb', 'attribute', 'level')) position += 1;
  return (
    segments[to]?.words === 'of' &&
    is(segments[position], 'distortion', 'quality') &&
    !is(segments[position], 'image', 'place')
  );
}

/** Verbs that ascribe a flaw or virtue to the object; others make it the cause. */
const LINKING_VERB =
  /^(show|exhibit|display|contain|have|suffer|lack|lose|retain|keep|preserve|need|look|appear|seem|get)(s|ed|n)?$/;

/** "Did the printer spoil the contrast?": the printer is the cause, not the object. */
function isAgent(segments: readonly Segment[], start: number, { to }: ObjectMention): boolean {
  const verb = segments[to];
  return (
    /^(did|has|have)$/.test(segments[start - 1]?.words ?? '') &&
    is(verb, 'verb') &&
    !LINKING_VERB.test(verb?.words ?? '') &&
    is(segments[to + 1], 'determiner') &&
    is(segments[to + 2], 'image', 'distortion', 'quality', 'reference')
  );
}

/** Without an article only a listed thing, a plural or a proper name is certainly a noun. */
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
