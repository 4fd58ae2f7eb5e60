// Part of understanding: tells the story around a question ("My brother says …", "I took this at a wedding. Is it …?") from what is asked.
import { is, opensClause, type Segment } from './segments.ts';

/** Segments `from` up to but not including `to`. */
interface Part {
  from: number;
  to: number;
}
/** The thing's determiner stands at `start`, its name from `from` up to but not including `to`. */
interface Thing extends Part {
  start: number;
}
interface Telling {
  text: string;
  segments: readonly Segment[];
}

/** Whether a thing is mentioned only in the story: it is then no object of the question. */
export function isOnlyTold({ text, segments }: Telling, thing: Thing): boolean {
  if (isSpeaker(segments, thing) || isNarrator(segments, thing)) return true;
  const part = partAround(segments, thing.start);
  const within = segments.slice(part.from, part.to);
  if (isToldWithin(within, thing.start - part.from) || isMadeSo(within, thing.start - part.from)) return true;
  const rest = [...segments.slice(0, part.from), ...segments.slice(part.to)];
  return (
    rest.some(asks) &&
    isStatement(text, segments, part) &&
    !bearsFlaw(segments, thing) &&
    !isTakenUp(segments, part, thing, rest)
  );
}

/** How many parts of the query tell rather than ask: each is a chance to take its things for what is meant. */
export function countTold({ text, segments }: Telling): number {
  const parts = partsOf(segments);
  return parts.length < 2 ? 0 : parts.filter((part) => isStatement(text, segments, part)).length;
}

/** Words of the told parts that only colour the story ("we look for an album cover"); a named flaw counts wherever it stands. */
export function toldAsides({ text, segments }: Telling): Set<Segment> {
  const told = partsOf(segments)
    .filter((part) => isStatement(text, segments, part))
    .flatMap(({ from, to }) => segments.slice(from, to));
  const rest = segments.filter((segment) => !told.includes(segment));
  const hasSubject = rest.some((segment) => is(segment, 'distortion', 'process', 'quality', 'other', 'taste', 'tool'));
  return new Set(hasSubject ? told.filter((segment) => !is(segment, 'distortion', 'process', 'tool')) : []);
}

const partsOf = (segments: readonly Segment[]): Part[] =>
  segments.flatMap((segment, index) => (opensClause(segment) ? [partAround(segments, index)] : []));

/** A word of the subject, or the beginning of a question: "Is he right?" */
const asks = (segment: Segment): boolean =>
  is(segment, 'distortion', 'quality', 'assess', 'other', 'taste', 'tool') ||
  (opensClause(segment) &&
    (is(segment, 'auxiliary', 'form', 'request') || /^(what|which|how|why|who)\b/.test(segment.words)));

/** From one comma or stop to the next. */
function partAround(segments: readonly Segment[], position: number): Part {
  let [from, to] = [position, position + 1];
  while (from > 0 && !opensClause(segments[from] as Segment)) from -= 1;
  while (to < segments.length && !opensClause(segments[to] as Segment)) to += 1;
  return { from, to };
}

const REPORTING =
  /^(say|think|believe|claim|complain|insist|argue|tell|ask|wonder|suspect|mention|suggest|report|reckon|feel|want|need|know|find|hate|notice)(s|es|d|ed|ing)?$|^(said|thought|told|felt|found|swears?|swore|keeps?|kept)$/;
/** "My brother says", "someone in the office claims". "Are the people telling …" and "does the man want …" ask; only a statement reports. */
const isSpeaker = (segments: readonly Segment[], { start, to }: Thing): boolean => {
  const verb = segments[is(segments[to], 'adverb') ? to + 1 : to];
  return (
    verb !== undefined &&
    !opensClause(verb) &&
    REPORTING.test(verb.words) &&
    !is(segments[start - 1], 'auxiliary', 'form') &&
    (!is(segments[start - 1], 'preposition') ||
      /^(someone|somebody|everyone|everybody|people)$/.test(segments[start - 2]?.words ?? '')) &&
    segments.slice(to + 1).some((segment) => is(segment, 'distortion', 'quality', 'picture'))
  );
};

/** "I'm a journalist and …", "we are an agency …". */
const isNarrator = (segments: readonly Segment[], { start }: Thing): boolean =>
  /^(i'm|im|we're)$/.test(segments[start - 1]?.words ?? '') ||
  (/^(am|are|were|was)$/.test(segments[start - 1]?.words ?? '') && /^(i|we)$/.test(segments[start - 2]?.words ?? ''));

const MAKING = /^(took|taken|shot|photographed|captured|snapped|filmed|recorded)$/;

/** Behind "when" or "while", with a verb of making and the picture after it: "what went wrong when my uncle took it with his phone". */
function isToldWithin(part: readonly Segment[], start: number): boolean {
  const when = part.findIndex(({ words }) => /^(when|while)$/.test(words));
  const verb = part.findIndex(({ words }, index) => index > when && MAKING.test(words));
  return (
    when >= 0 &&
    start > when &&
    verb >= 0 &&
    part.slice(verb + 1, verb + 3).some((segment) => is(segment, 'picture') || /^(it|this|that)$/.test(segment.words))
  );
}

/** Behind a preposition after "I took this …", "we shot it …": "I took this pic at my cousin's birthday and it looks blurry". */
function isMadeSo(part: readonly Segment[], start: number): boolean {
  const verb = part.findLastIndex(({ words }, index) => index < start && MAKING.test(words));
  const between = part.slice(verb + 1, start);
  return (
    verb > 0 &&
    is(part[start - 1], 'preposition') &&
    part.slice(Math.max(0, verb - 2), verb).some(({ words }) => /^(i|we)$/.test(words)) &&
    between.some((segment) => is(segment, 'picture') || /^(it|this|that|these)$/.test(segment.words)) &&
    !between.some((segment) => is(segment, 'conjunction'))
  );
}

/** Words before the subject of a statement: "But then", "Hello,", "Not sure if". */
const LEAD_IN = ['conjunction', 'adverb', 'negation', 'level'] as const;
const SUBJECT =
  /^(i|we|he|she|it|this|that|they|you|someone|somebody|everyone|everybody|people|i'm|i've|i'd|i'll|we're|we've|we'd|we'll|im|ive|id|sure|if|because|since|when|while|after|before)$/;

/** A subject with its verb behind it, or "Taken at night …"; neither a question nor a request, and without "there is", which presents a thing. */
function isStatement(text: string, segments: readonly Segment[], { from, to }: Part): boolean {
  const part = segments.slice(from, to);
  const last = part.at(-1);
  if (!last || /^\s*\?/.test(text.slice(last.end)) || presents(part)) return false;
  const begin = part.findIndex((segment) => !is(segment, ...LEAD_IN) || SUBJECT.test(segment.words));
  const first = part[begin];
  if (!first) return false;
  if (MAKING.test(first.words)) return true;
  // "Two weeks ago I bought …", "Because of the rain we shot …"
  const narrates = part.some(
    ({ words }, index) =>
      /^(i|we)$/.test(words) && part.slice(index + 1, index + 3).some((segment) => isVerb(segment, undefined, 1)),
  );
  if (narrates && !is(first, 'auxiliary', 'form', 'request', 'assess', 'exclusion', 'verb')) return true;
  const isSubject = SUBJECT.test(first.words) || is(first, 'determiner') || first.meaning === null;
  // "I'd like to hang this in my room" tells; "I'd like to know whether the car is blurry" asks.
  if (is(first, 'request'))
    return /^i\b/.test(first.words) && !part.some((segment) => is(segment, 'distortion', 'quality', 'assess', 'form'));
  if (!isSubject || is(first, 'form', 'exclusion')) return false;
  // No list knows all verbs: a full stop behind more than a name does as well. "The dog. Is it sharp?" has only the name.
  const isFull = part[0]?.boundary !== 'comma' && /^['")\s]*[.!]/.test(text.slice(last.end)) && part.length > 3;
  return isFull || part.slice(begin).some((segment, index) => isVerb(segment, part[begin + index - 1], index));
}

/** "There is a boat"; "there was fog" tells what it was like. */
const presents = (part: readonly Segment[]): boolean =>
  part.some(({ words }, index) => /\bthere$/.test(words) && !/^(was|were)$/.test(part[index + 1]?.words ?? ''));

/** "'s" is a verb behind a pronoun, a possessive behind a noun. */
function isVerb(segment: Segment, before: Segment | undefined, index: number): boolean {
  if (segment.words === "'s") return is(before, 'pronoun', 'determiner');
  if (index === 0) return /^(i|we|you|they)'(m|ve|d|re|ll)$/.test(segment.words);
  return (
    is(segment, 'verb', 'auxiliary') ||
    MAKING.test(segment.words) ||
    HAVING.test(segment.words) ||
    (segment.meaning === null && /[^e]ed$/.test(segment.words))
  );
}

/** Between a thing and what is said of it: "the sky, I think, looks kind of purple", "the face has some noise". */
const LINKING = [
  'auxiliary',
  'adverb',
  'negation',
  'determiner',
  'level',
  'excess',
  'attribute',
  'pronoun',
  'place',
  'preposition',
  'picture',
] as const;
const AMOUNT = /^(lot|bit|amount|kind|sort|level|degree|trace|hint|touch)s?$/;
const HAVING =
  /^(show|exhibit|display|contain|have|suffer|lack|lose|retain|need|look|appear|seem|get|come|came|turn|become|became|go|went|got)(s|ed|n)?$/;

/** The statement itself complains or praises: "the dog is out of focus", "I see noise in the sky". */
function bearsFlaw(segments: readonly Segment[], { start, to }: Thing): boolean {
  // "She moved her head at the wrong moment": behind a preposition nothing is said of the head.
  let aside = false;
  for (let position = to; position < Math.min(segments.length, to + 6); position += 1) {
    const segment = segments[position] as Segment;
    if (is(segment, 'preposition') && segment.words !== 'of') aside = true;
    else if (is(segment, 'auxiliary', 'picture', 'place') || HAVING.test(segment.words)) aside = false;
    // "When I view it on my TV it looks blocky": the picture, not the TV.
    if (
      opensClause(segment) ||
      (segment.words === 'it' &&
        segments.slice(0, start).some((earlier) => is(earlier, 'picture') || /^(it|this|that)$/.test(earlier.words)))
    )
      break;
    const judges = is(segment, 'distortion', 'process', 'quality') && !HAVING.test(segment.words);
    if (judges) return !aside && (position > to || is(segment, 'distortion', 'process'));
    if (!is(segment, ...LINKING) && !HAVING.test(segment.words) && !AMOUNT.test(segment.words)) break;
  }
  const before = segments[start - 2];
  return (
    is(segments[start - 1], 'preposition') &&
    is(before, 'distortion', 'process', 'quality') &&
    !opensClause(segments[start - 1] as Segment)
  );
}

const CONCERN =
  /^(care|cares|interested|worried|concerned|worry|interest|concern|mean|look|looking|refer|referring|talking|attention|question|request|point)$|\bknow$/;

/** The question comes back to the thing by a pronoun, or the statement names it as what matters. */
function isTakenUp(segments: readonly Segment[], part: Part, thing: Thing, rest: readonly Segment[]): boolean {
  const before = segments[thing.start - 1];
  if (is(before, 'preposition', 'aside', 'purpose')) {
    // "The report needs a BRISQUE value for the car."
    if (
      /^(for|of|on)$/.test(before?.words ?? '') &&
      segments.slice(Math.max(part.from, thing.start - 4), thing.start).some((segment) => is(segment, 'tool'))
    )
      return true;
    let position = thing.start - 2;
    while (is(segments[position], 'adverb', 'auxiliary')) position -= 1;
    return CONCERN.test(segments[position]?.words ?? '');
  }
  const pronouns = new Set(rest.map(({ words }) => words));
  // "My cat jumped off the chair. Is he sharp?": the first thing told of.
  const isFirst = !segments.slice(part.from, thing.start).some((segment) => segment.meaning === null);
  if (['he', 'she', 'him'].some((word) => pronouns.has(word))) return isFirst;
  // "My dog moved. Is he sharp?" speaks of the dog, "My phone did this. Is it sharp?" of the picture.
  const isOwn = thing.start === part.from && /^(my|our)$/.test(segments[thing.start]?.words ?? '');
  const comesBack = (...words: string[]): boolean => !isOwn && words.some((word) => pronouns.has(word));
  const isPlural = /[^s]s$|^(people|men|women|children)$/.test(headOf(segments, thing));
  if (isPlural) return comesBack('they', 'them');
  // "I took this with my phone. Is it sharp?" speaks of the picture, "The dog moved. Is it sharp?" of the dog.
  const speaksOfPicture = segments
    .slice(part.from, part.to)
    .some((segment) => is(segment, 'picture', 'tool') || /^(it|this|that)$/.test(segment.words));
  return comesBack('it') && !speaksOfPicture && (thing.start === part.from || MAKING.test(before?.words ?? ''));
}

/** "candles" of "candles on the table". */
function headOf(segments: readonly Segment[], { from, to }: Thing): string {
  const name = segments.slice(from, to);
  const link = name.findIndex((segment) => is(segment, 'preposition'));
  return name.at(link > 0 ? link - 1 : -1)?.words ?? '';
}
