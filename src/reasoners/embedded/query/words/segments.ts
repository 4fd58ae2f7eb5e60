// Groups the words of a question into phrases of the lexicon, tool names and unknown words.
import type { WordClass } from './lexicon-file.ts';
import type { Lexicon, Meaning } from './lexicon.ts';
import type { Boundary, Token } from './tokens.ts';

export interface Segment {
  /** Lower-case words, joined by a space. */
  words: string;
  start: number;
  end: number;
  wordCount: number;
  boundary: Boundary;
  /** Null for an unknown word, which may be an object. */
  meaning: Meaning | null;
  /** One of its words was corrected as a typo. */
  hasTypo: boolean;
  /** The question excludes it ("ignore the noise"). */
  excluded: boolean;
}

/** Words `from` up to but not including `to`. */
export interface Span {
  from: number;
  to: number;
}

const TOOL: Meaning = {
  classes: new Set<WordClass>(['tool']),
  category: null,
  polarity: null,
  form: null,
  variant: null,
};

export const is = (segment: Segment | undefined, ...classes: readonly WordClass[]): boolean =>
  classes.some((wordClass) => segment?.meaning?.classes.has(wordClass) === true);

/** Whether a new clause begins here. */
export const opensClause = (segment: Segment): boolean =>
  segment.boundary === 'start' || segment.boundary === 'stop' || segment.boundary === 'comma';

export function segmentTokens(tokens: readonly Token[], lexicon: Lexicon, toolSpans: readonly Span[]): Segment[] {
  const words = tokens.map((token) => token.word);
  const ends = phraseEnds(tokens, toolSpans);
  const toolEnds = new Map(toolSpans.map((span) => [span.from, span.to]));
  const segments: Segment[] = [];
  for (let position = 0; position < tokens.length;) {
    const toolEnd = toolEnds.get(position);
    const match = toolEnd === undefined ? lexicon.match(words, position, ends[position] ?? tokens.length) : null;
    const next = toolEnd ?? position + (match?.length ?? 1);
    segments.push(buildSegment(tokens, position, next, toolEnd === undefined ? (match?.meaning ?? null) : TOOL));
    position = next;
  }
  return markExclusions(segments);
}

function buildSegment(tokens: readonly Token[], from: number, to: number, meaning: Meaning | null): Segment {
  const [first, last] = [tokens[from], tokens[to - 1]];
  return {
    words: tokens
      .slice(from, to)
      .map((token) => token.word)
      .join(' '),
    start: first?.start ?? 0,
    end: last?.end ?? 0,
    wordCount: to - from,
    boundary: first?.boundary ?? 'start',
    meaning,
    hasTypo: tokens.slice(from, to).some((token) => token.correction === 'typo'),
    excluded: false,
  };
}

/** For every word, where a phrase that begins there must end: at the next comma, full stop or tool name. */
function phraseEnds(tokens: readonly Token[], toolSpans: readonly Span[]): number[] {
  const toolStarts = new Set(toolSpans.map((span) => span.from));
  const ends: number[] = [];
  let end = tokens.length;
  for (let position = tokens.length - 1; position >= 0; position -= 1) {
    ends[position] = end;
    const boundary = tokens[position]?.boundary;
    if (boundary === 'comma' || boundary === 'stop' || toolStarts.has(position)) end = position;
  }
  return ends;
}

/** "Ignoring the noise, is it sharp?": an exclusion extends to the end of its clause or to the next verb. */
function markExclusions(segments: readonly Segment[]): Segment[] {
  let excluding = false;
  return segments.map((segment, index) => {
    if (isCommand(segments, index)) return { ...segment, excluded: true };
    if (is(segment, 'exclusion')) excluding = true;
    else if (opensClause(segment) || is(segment, 'auxiliary') || segment.words === 'but') excluding = false;
    return excluding ? { ...segment, excluded: true } : segment;
  });
}

/** "Focus on the tower: any noise?", "Contrast this with the original": here the word is a command, not a property. */
function isCommand(segments: readonly Segment[], index: number): boolean {
  const [before, segment, next] = [segments[index - 1], segments[index], segments[index + 1]];
  if (!segment || !(opensClause(segment) || (before && is(before, 'request', 'adverb') && opensClause(before))))
    return false;
  return (
    (/^focuss?(ing)?$/.test(segment.words) && next?.words === 'on') ||
    (segment.words === 'contrast' && is(next, 'determiner', 'reference'))
  );
}
