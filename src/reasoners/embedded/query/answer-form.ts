// Detects the form of answer that a question asks for, and whether it asks for a flaw or a virtue.
import type { AnswerForm } from './words/lexicon-file.ts';
import { is, opensClause, type Segment } from './words/segments.ts';

export type AskedPolarity = 'asks_for_flaw' | 'asks_for_virtue';

/** `recognised` is false where the form is only the best guess. */
export function detectAnswerForm(
  segments: readonly Segment[],
  hasOptions: boolean,
  endsWithQuestionMark: boolean,
): { form: AnswerForm; recognised: boolean } {
  if (hasOptions) return { form: 'multiple_choice', recognised: true };
  const cues = segments.map((segment, index) => cueAt(segments, segment, index)).filter((cue) => cue !== null);
  const question = cues.find((cue) => cue !== 'scoring');
  // "Rate it and explain why" asks for a rating; "measure it and tell me how bad it is" for an amount.
  if (question && !(question === 'explanation' && cues[0] === 'scoring')) return { form: question, recognised: true };
  if (cues[0]) return { form: cues[0], recognised: true };
  if (segments.some((segment) => is(segment, 'tool'))) return { form: 'scoring', recognised: true };
  const asksWhat = segments.some((segment) => /^(what|who|where|when)\b/.test(segment.words));
  const judges = segments.some((segment) => is(segment, 'distortion'));
  if (judges && endsWithQuestionMark && !asksWhat) return { form: 'yes_no', recognised: true };
  const states = !asksWhat && segments.some((segment) => is(segment, 'auxiliary', 'verb'));
  const asksScore = !states && segments.some((segment) => is(segment, 'quality', 'distortion'));
  return { form: asksScore ? 'scoring' : 'explanation', recognised: asksWhat };
}

function cueAt(segments: readonly Segment[], segment: Segment, index: number): AnswerForm | null {
  if (segment.excluded) return null;
  if (segment.words === 'how') return cueAfterHow(segments, index);
  if (segment.meaning?.form) return segment.meaning.form;
  return is(segment, 'auxiliary') && beginsQuestion(segments, segment, index) ? 'yes_no' : null;
}

/** "How blurry is it?" asks for an amount, "how good is it?" for a rating. */
function cueAfterHow(segments: readonly Segment[], index: number): AnswerForm | null {
  const next = segments[index + 1];
  if (is(next, 'quality')) return segments.some((segment) => is(segment, 'distortion')) ? 'how_much' : 'scoring';
  return is(next, 'distortion', 'level') ? 'how_much' : null;
}

/** At the start of a clause, or after a lead-in without a verb of its own ("and", "so", "then"). */
function beginsQuestion(segments: readonly Segment[], segment: Segment, index: number): boolean {
  const before = segments[index - 1];
  return (
    opensClause(segment) ||
    before === undefined ||
    before.excluded ||
    is(before, 'request') ||
    (is(before, 'conjunction', 'adverb') && index >= 2 && opensClause(before)) ||
    (index === 1 && is(before, 'conjunction', 'adverb'))
  );
}

/** Null when the question judges nothing, or offers both ("legible or too blurry"). */
export function detectPolarity(segments: readonly Segment[]): AskedPolarity | null {
  const judgements = segments
    .map((segment, index) => ({ segment, polarity: segment.excluded ? null : polarityAt(segments, index) }))
    .filter((judgement) => judgement.polarity !== null);
  const named = judgements.filter(({ segment }) => is(segment, 'distortion'));
  const general = judgements.filter(({ segment }) => !is(segment, 'distortion'));
  const offersChoice =
    segments.some((segment) => segment.words === 'or') && new Set(judgements.map(({ polarity }) => polarity)).size > 1;
  if (offersChoice) return null;
  // A general word after the named flaw decides: "Is the noise acceptable?" praises. "Is the noise visible?" only asks for its presence.
  const last = named.at(-1)?.segment.start;
  const verdict =
    general.find(({ segment }) => last === undefined || (segment.start > last && !PRESENCE.test(segment.words))) ??
    named[0] ??
    general[0];
  if (!verdict) return null;
  return (verdict.polarity === 'flaw') === isSecondAlternative(segments, verdict.segment, judgements[0]?.segment)
    ? 'asks_for_virtue'
    : 'asks_for_flaw';
}

const PRESENCE = /^(visible|discernible|recogni[sz]able|identifiable|distinguishable|noticeable|visibility|be seen)$/;

/** "Can I use it, or is the quality too poor?": a yes answers the first part and denies the second. */
function isSecondAlternative(segments: readonly Segment[], verdict: Segment, first: Segment | undefined): boolean {
  const or = segments.findIndex((segment, index) => segment.words === 'or' && is(segments[index + 1], 'auxiliary'));
  const start = segments[or]?.start;
  return (
    start !== undefined &&
    is(segments[0], 'auxiliary', 'form') &&
    verdict.start > start &&
    first !== undefined &&
    first.start > start
  );
}

function polarityAt(segments: readonly Segment[], index: number): 'flaw' | 'virtue' | null {
  const segment = segments[index];
  if (segment && isRightAsPraise(segments, segment, index)) return 'virtue';
  if (!segment || !is(segment, 'distortion', 'quality')) return null;
  // "visible defects", "natural grain": a positive word right before a flaw does not praise.
  const next = segments[index + 1];
  if (is(next, 'distortion', 'quality') && next?.meaning?.polarity === 'flaw' && !opensClause(next)) return null;
  const before = modifiersBefore(segments, index);
  const isNegated = before.some((word) => is(word, 'negation') || word.words === 'less');
  const isExcessive = before.some((word) => is(word, 'excess'));
  const own = segment.meaning?.polarity ?? null;
  // "too sharp" complains, and so does "lacks contrast", where the word itself is neutral.
  const polarity =
    isExcessive || (own === 'virtue' && isMissingVirtue(segments, index))
      ? 'flaw'
      : (own ?? (isNegated ? 'virtue' : null));
  if (!isNegated || polarity === null) return polarity;
  return polarity === 'flaw' ? 'virtue' : 'flaw';
}

/** "Is the exposure right?" praises; "the right side" and "is he right?" do not. */
function isRightAsPraise(segments: readonly Segment[], segment: Segment, index: number): boolean {
  const [before, next] = [segments[index - 1], segments[index + 1]];
  return (
    segment.words === 'right' &&
    (next === undefined || opensClause(next)) &&
    !opensClause(segment) &&
    !is(before, 'pronoun', 'determiner', 'preposition', 'conjunction', 'auxiliary') &&
    segments.slice(0, index).some((earlier) => is(earlier, 'distortion') && earlier.meaning?.polarity === null)
  );
}

/** "Could it be sharper?", "does it need to be brighter?" complain about a missing virtue, unless they compare ("sharper than …"). */
function isMissingVirtue(segments: readonly Segment[], index: number): boolean {
  const isComparative = /er$/.test(segments[index]?.words ?? '') || segments[index - 1]?.words === 'more';
  return (
    isComparative &&
    segments
      .slice(Math.max(0, index - 5), index)
      .some(({ words }) => /^(could|should|might|must|needs?)$/.test(words)) &&
    !segments.slice(index).some((later) => is(later, 'than') || /\bthan\b/.test(later.words))
  );
}

/** Up to three words back that modify this one. A contraction that opens the question ("isn't it sharp?") does not negate. */
function modifiersBefore(segments: readonly Segment[], index: number): Segment[] {
  const found: Segment[] = [];
  for (let position = index - 1; position >= Math.max(0, index - 3); position -= 1) {
    const segment = segments[position];
    if (
      !segment ||
      !is(segment, 'adverb', 'negation', 'excess', 'determiner', 'level') ||
      opensClause(segments[position + 1] ?? segment)
    )
      break;
    if (!(is(segment, 'auxiliary') && opensClause(segment))) found.push(segment);
  }
  return found;
}
