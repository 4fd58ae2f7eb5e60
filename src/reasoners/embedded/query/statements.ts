// Finds the clauses of a question's text that state something instead of asking.
import { is, opensClause, type Segment } from './words/segments.ts';

/** Segments `from` up to but not including `to`. */
export interface Clause {
  from: number;
  to: number;
}
export const listClauses = (segments: readonly Segment[]): Clause[] =>
  segments.flatMap((segment, index) => (opensClause(segment) ? [findClauseAround(segments, index)] : []));

/** From one comma or full stop to the next. */
export function findClauseAround(segments: readonly Segment[], position: number): Clause {
  let [from, to] = [position, position + 1];
  while (from > 0 && !opensClause(segments[from] as Segment)) from -= 1;
  while (to < segments.length && !opensClause(segments[to] as Segment)) to += 1;
  return { from, to };
}

export const CAPTURE_VERB = /^(took|taken|shot|photographed|captured|snapped|filmed|recorded)$/;

export const LINKING_VERB =
  /^(show|exhibit|display|contain|have|suffer|lack|lose|retain|need|look|appear|seem|get|come|came|turn|become|became|go|went|got)(s|ed|n)?$/;

/** Words before the subject of a statement: "But then", "Hello,", "Not sure if". */
const LEAD_IN = ['conjunction', 'adverb', 'negation', 'level'] as const;
const SUBJECT =
  /^(i|we|he|she|it|this|that|they|you|someone|somebody|everyone|everybody|people|i'm|i've|i'd|i'll|we're|we've|we'd|we'll|im|ive|id|sure|if|because|since|when|while|after|before)$/;

/** A subject followed by its verb, or "Taken at night …"; not a question, a request or "there is", which introduces an object. */
export function isStatement(text: string, segments: readonly Segment[], { from, to }: Clause): boolean {
  const clause = segments.slice(from, to);
  const last = clause.at(-1);
  if (!last || /^\s*\?/.test(text.slice(last.end)) || introducesObject(clause)) return false;
  const begin = clause.findIndex((segment) => !is(segment, ...LEAD_IN) || SUBJECT.test(segment.words));
  const first = clause[begin];
  if (!first) return false;
  if (CAPTURE_VERB.test(first.words)) return true;
  // "Two weeks ago I bought …", "Because of the rain we shot …"
  const narrates = clause.some(
    ({ words }, index) =>
      /^(i|we)$/.test(words) && clause.slice(index + 1, index + 3).some((segment) => isVerb(segment, undefined, 1)),
  );
  if (narrates && !is(first, 'auxiliary', 'form', 'request', 'assess', 'exclusion', 'verb')) return true;
  const isSubject = SUBJECT.test(first.words) || is(first, 'determiner') || first.meaning === null;
  // "I'd like to hang this in my room" states; "I'd like to know whether the car is blurry" asks.
  if (is(first, 'request'))
    return (
      /^i\b/.test(first.words) && !clause.some((segment) => is(segment, 'distortion', 'quality', 'assess', 'form'))
    );
  if (!isSubject || is(first, 'form', 'exclusion')) return false;
  // Not all verbs are listed, so a full stop after more than a name is enough. "The dog. Is it sharp?" has only a name.
  const isFullSentence =
    clause[0]?.boundary !== 'comma' && /^['")\s]*[.!]/.test(text.slice(last.end)) && clause.length > 3;
  return (
    isFullSentence || clause.slice(begin).some((segment, index) => isVerb(segment, clause[begin + index - 1], index))
  );
}

/** "There is a boat", but not "there was fog", which describes the circumstances. */
const introducesObject = (clause: readonly Segment[]): boolean =>
  clause.some(({ words }, index) => /\bthere$/.test(words) && !/^(was|were)$/.test(clause[index + 1]?.words ?? ''));

/** "'s" is a verb after a pronoun, a possessive after a noun. */
function isVerb(segment: Segment, before: Segment | undefined, index: number): boolean {
  if (segment.words === "'s") return is(before, 'pronoun', 'determiner');
  if (index === 0) return /^(i|we|you|they)'(m|ve|d|re|ll)$/.test(segment.words);
  return (
    is(segment, 'verb', 'auxiliary') ||
    CAPTURE_VERB.test(segment.words) ||
    LINKING_VERB.test(segment.words) ||
    (segment.meaning === null && /[^e]ed$/.test(segment.words))
  );
}
