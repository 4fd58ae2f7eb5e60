// The notation of configs/lexicon.yaml: expands one written phrase to all the word sequences it stands for.

/** More than this is a slip of the pen in the lexicon, not a phrase. */
const MAX_EXPANSIONS = 500;

/** "over-exposed", "sharp enough?", "blur/blurs" → every sequence of words meant. */
export function expandPhrase(phrase: string): string[][] {
  let sequences: string[][] = [[]];
  for (const part of phrase.trim().split(/\s+/)) {
    const variants = expandPart(part);
    sequences = sequences.flatMap((sequence) => variants.map((variant) => [...sequence, ...variant]));
    if (sequences.length > MAX_EXPANSIONS)
      throw new TypeError(`Expected at most ${MAX_EXPANSIONS} readings for the phrase "${phrase}"`);
  }
  return sequences.filter((sequence) => sequence.length > 0);
}

function expandPart(part: string): string[][] {
  const optional = part.endsWith('?');
  const alternatives = (optional ? part.slice(0, -1) : part).split('/').flatMap(expandHyphens);
  return optional ? [[], ...alternatives] : alternatives;
}

/** A text is split at hyphens, so "over-exposed" arrives as two words and "overexposed" as one. */
function expandHyphens(word: string): string[][] {
  const pieces = word.split('-');
  return pieces.length === 1 ? [[word]] : [pieces, [pieces.join('')]];
}
