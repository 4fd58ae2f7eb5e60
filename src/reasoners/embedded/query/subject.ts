// Decides whether a question is about technical quality or about something else: taste, feeling, style or content.
import type { Lexicon } from './words/lexicon.ts';
import type { ObjectMention } from './noun-phrases.ts';
import { is, opensClause, type Segment } from './words/segments.ts';

export interface SubjectScores {
  /** Weight of the words about technical quality. */
  quality: number;
  /** Weight of the words about taste, feeling, style or content. */
  other: number;
}

export function scoreSubject(segments: readonly Segment[], lexicon: Lexicon): SubjectScores {
  const subject = { quality: 0, other: 0 };
  for (const [index, segment] of segments.entries()) {
    const before = segments[index - 1]?.words ?? '';
    // "What emotion …" asks for the emotion, whatever else the sentence mentions.
    const isAskedFor = /^(what|which)$/.test(before);
    // "dark" and "lighting" describe moods as well as quality.
    const isAmbiguous = lexicon.ambiguous.has(segment.words) || segment.meaning?.polarity === null;
    // "What kind of flower", "what bird" ask for content.
    if (
      segment.meaning === null &&
      lexicon.things.has(segment.words) &&
      /^(what|(what|which) (kind|type|sort)s? of)$/.test(before)
    )
      subject.other += 3;
    else if (segment.meaning === null && lexicon.things.has(segment.words) && before === 'which') subject.other += 1;
    else if (is(segment, 'tool')) subject.quality += 4;
    // "What went wrong when he took it" does not ask for a date.
    else if (
      segment.words === 'when' &&
      segments.slice(0, index).some((earlier) => is(earlier, 'quality', 'distortion'))
    )
      continue;
    else if (is(segment, 'other')) subject.other += isAskedFor ? 4 : 3;
    else if (is(segment, 'distortion', 'process')) subject.quality += isAmbiguous ? 2 : 3;
    else if (is(segment, 'taste')) subject.other += 1;
    else if (is(segment, 'quality')) subject.quality += segment.meaning?.polarity === 'virtue' ? 1 : 2;
    // "Rate this photo." is clearly about quality.
    else if (is(segment, 'assess') && ratesImage(segments, index)) subject.quality += 2;
    else if (is(segment, 'assess', 'reference', 'medium')) subject.quality += 1;
  }
  return subject;
}

/** Whether the image is the object of the verb of assessment. */
function ratesImage(segments: readonly Segment[], index: number): boolean {
  const object =
    segments[is(segments[index + 1], 'determiner') && is(segments[index + 2], 'image') ? index + 2 : index + 1];
  return is(object, 'image') || /^(it|this)$/.test(object?.words ?? '');
}

/** A recognised question about an object, without any word of quality, asks for content ("Is the man wearing a hat?"). */
export function classifyQuery(
  subject: SubjectScores,
  formRecognised: boolean,
  objects: readonly ObjectMention[],
  segments: readonly Segment[],
): 'IQA' | 'Other' {
  if (subject.other > subject.quality) return 'Other';
  const asks = formRecognised || asksForTranscription(segments);
  const asksForContent =
    subject.quality === 0 && asks && (objects.some((mention) => mention.determined) || asksForKind(segments));
  return asksForContent ? 'Other' : 'IQA';
}

/** "Read the text on the sign." asks for its words; "can you read …?" asks whether they are legible. */
const asksForTranscription = (segments: readonly Segment[]): boolean =>
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
