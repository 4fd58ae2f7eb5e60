// Separates the story around a question ("My brother says …", "I took this at a wedding. Is it …?") from the question itself.
import { CAPTURE_VERB, findClauseAround, isStatement, LINKING_VERB, listClauses, type Clause } from './statements.ts';
import { is, opensClause, type Segment } from './words/segments.ts';

/** An object's name, with its determiner at `start`. */
interface Mention extends Clause {
  start: number;
}
interface SegmentedText {
  text: string;
  segments: readonly Segment[];
}

/** Whether an object is mentioned only in the story, so that the question is not about it. */
export function isNarrativeOnly({ text, segments }: SegmentedText, mention: Mention): boolean {
  if (isSpeaker(segments, mention) || isNarrator(segments, mention)) return true;
  const clause = findClauseAround(segments, mention.start);
  const within = segments.slice(clause.from, clause.to);
  if (
    isInCaptureClause(within, mention.start - clause.from) ||
    isCaptureCircumstance(within, mention.start - clause.from)
  )
    return true;
  const rest = [...segments.slice(0, clause.from), ...segments.slice(clause.to)];
  return (
    rest.some(isQuestionCue) &&
    isStatement(text, segments, clause) &&
    !carriesJudgement(segments, mention) &&
    !isReferredTo(segments, clause, mention, rest)
  );
}

/** How many clauses state rather than ask; each one may be mistaken for part of the question. */
export function countNarrativeClauses({ text, segments }: SegmentedText): number {
  const clauses = listClauses(segments);
  return clauses.length < 2 ? 0 : clauses.filter((clause) => isStatement(text, segments, clause)).length;
}

/** Words of the statements that do not decide the subject ("we look for an album cover"); a named flaw always does. */
export function findNarrativeAsides({ text, segments }: SegmentedText): Set<Segment> {
  const stated = listClauses(segments)
    .filter((clause) => isStatement(text, segments, clause))
    .flatMap(({ from, to }) => segments.slice(from, to));
  const rest = segments.filter((segment) => !stated.includes(segment));
  const hasSubject = rest.some((segment) => is(segment, 'distortion', 'process', 'quality', 'other', 'taste', 'tool'));
  return new Set(hasSubject ? stated.filter((segment) => !is(segment, 'distortion', 'process', 'tool')) : []);
}

/** A word about quality or taste, or the beginning of a question ("Is he right?"). */
const isQuestionCue = (segment: Segment): boolean =>
  is(segment, 'distortion', 'quality', 'assess', 'other', 'taste', 'tool') ||
  (opensClause(segment) &&
    (is(segment, 'auxiliary', 'form', 'request') || /^(what|which|how|why|who)\b/.test(segment.words)));

const REPORTING_VERB =
  /^(say|think|believe|claim|complain|insist|argue|tell|ask|wonder|suspect|mention|suggest|report|reckon|feel|want|need|know|find|hate|notice)(s|es|d|ed|ing)?$|^(said|thought|told|felt|found|swears?|swore|keeps?|kept)$/;
/** "My brother says", "someone in the office claims". Only statements report: "does the man want …" asks. */
const isSpeaker = (segments: readonly Segment[], { start, to }: Mention): boolean => {
  const verb = segments[is(segments[to], 'adverb') ? to + 1 : to];
  return (
    verb !== undefined &&
    !opensClause(verb) &&
    REPORTING_VERB.test(verb.words) &&
    !is(segments[start - 1], 'auxiliary', 'form') &&
    (!is(segments[start - 1], 'preposition') ||
      /^(someone|somebody|everyone|everybody|people)$/.test(segments[start - 2]?.words ?? '')) &&
    segments.slice(to + 1).some((segment) => is(segment, 'distortion', 'quality', 'image'))
  );
};

/** "I'm a journalist and …", "we are an agency …". */
const isNarrator = (segments: readonly Segment[], { start }: Mention): boolean =>
  /^(i'm|im|we're)$/.test(segments[start - 1]?.words ?? '') ||
  (/^(am|are|were|was)$/.test(segments[start - 1]?.words ?? '') && /^(i|we)$/.test(segments[start - 2]?.words ?? ''));

/** After "when" or "while", with a capture verb and the image after it: "what went wrong when my uncle took it with his phone". */
function isInCaptureClause(clause: readonly Segment[], start: number): boolean {
  const when = clause.findIndex(({ words }) => /^(when|while)$/.test(words));
  const verb = clause.findIndex(({ words }, index) => index > when && CAPTURE_VERB.test(words));
  return (
    when >= 0 &&
    start > when &&
    verb >= 0 &&
    clause.slice(verb + 1, verb + 3).some((segment) => is(segment, 'image') || /^(it|this|that)$/.test(segment.words))
  );
}

/** After a preposition that follows "I took this …": "I took this pic at my cousin's birthday and it looks blurry". */
function isCaptureCircumstance(clause: readonly Segment[], start: number): boolean {
  const verb = clause.findLastIndex(({ words }, index) => index < start && CAPTURE_VERB.test(words));
  const between = clause.slice(verb + 1, start);
  return (
    verb > 0 &&
    is(clause[start - 1], 'preposition') &&
    clause.slice(Math.max(0, verb - 2), verb).some(({ words }) => /^(i|we)$/.test(words)) &&
    between.some((segment) => is(segment, 'image') || /^(it|this|that|these)$/.test(segment.words)) &&
    !between.some((segment) => is(segment, 'conjunction'))
  );
}

/** Allowed between an object and its judgement: "the sky, I think, looks kind of purple", "the face has some noise". */
const LINKING_CLASSES = [
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
  'image',
] as const;
const AMOUNT = /^(lot|bit|amount|kind|sort|level|degree|trace|hint|touch)s?$/;

/** Whether the statement itself judges the object: "the dog is out of focus", "I see noise in the sky". */
function carriesJudgement(segments: readonly Segment[], { start, to }: Mention): boolean {
  // "She moved her head at the wrong moment": words after a preposition do not judge the head.
  let isAfterPreposition = false;
  for (let position = to; position < Math.min(segments.length, to + 6); position += 1) {
    const segment = segments[position] as Segment;
    if (is(segment, 'preposition') && segment.words !== 'of') isAfterPreposition = true;
    else if (is(segment, 'auxiliary', 'image', 'place') || LINKING_VERB.test(segment.words)) isAfterPreposition = false;
    // "When I view it on my TV it looks blocky" judges the image, not the TV.
    if (
      opensClause(segment) ||
      (segment.words === 'it' &&
        segments.slice(0, start).some((earlier) => is(earlier, 'image') || /^(it|this|that)$/.test(earlier.words)))
    )
      break;
    const judges = is(segment, 'distortion', 'process', 'quality') && !LINKING_VERB.test(segment.words);
    if (judges) return !isAfterPreposition && (position > to || is(segment, 'distortion', 'process'));
    if (!is(segment, ...LINKING_CLASSES) && !LINKING_VERB.test(segment.words) && !AMOUNT.test(segment.words)) break;
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

/** Whether a pronoun of the question refers to the object, or the statement says that it matters. */
function isReferredTo(
  segments: readonly Segment[],
  clause: Clause,
  mention: Mention,
  rest: readonly Segment[],
): boolean {
  const before = segments[mention.start - 1];
  if (is(before, 'preposition', 'aside', 'purpose')) {
    // "The report needs a BRISQUE value for the car."
    if (
      /^(for|of|on)$/.test(before?.words ?? '') &&
      segments.slice(Math.max(clause.from, mention.start - 4), mention.start).some((segment) => is(segment, 'tool'))
    )
      return true;
    let position = mention.start - 2;
    while (is(segments[position], 'adverb', 'auxiliary')) position -= 1;
    return CONCERN.test(segments[position]?.words ?? '');
  }
  const pronouns = new Set(rest.map(({ words }) => words));
  // "My cat jumped off the chair. Is he sharp?" refers to the first object.
  const isFirst = !segments.slice(clause.from, mention.start).some((segment) => segment.meaning === null);
  if (['he', 'she', 'him'].some((word) => pronouns.has(word))) return isFirst;
  // "My dog moved. Is he sharp?" is about the dog, "My phone did this. Is it sharp?" about the image.
  const isOwn = mention.start === clause.from && /^(my|our)$/.test(segments[mention.start]?.words ?? '');
  const isReferredBy = (...words: string[]): boolean => !isOwn && words.some((word) => pronouns.has(word));
  const isPlural = /[^s]s$|^(people|men|women|children)$/.test(findHeadNoun(segments, mention));
  if (isPlural) return isReferredBy('they', 'them');
  // "I took this with my phone. Is it sharp?" is about the image, "The dog moved. Is it sharp?" about the dog.
  const mentionsImage = segments
    .slice(clause.from, clause.to)
    .some((segment) => is(segment, 'image', 'tool') || /^(it|this|that)$/.test(segment.words));
  return (
    isReferredBy('it') && !mentionsImage && (mention.start === clause.from || CAPTURE_VERB.test(before?.words ?? ''))
  );
}

/** "candles" of "candles on the table". */
function findHeadNoun(segments: readonly Segment[], { from, to }: Mention): string {
  const name = segments.slice(from, to);
  const link = name.findIndex((segment) => is(segment, 'preposition'));
  return name.at(link > 0 ? link - 1 : -1)?.words ?? '';
}
