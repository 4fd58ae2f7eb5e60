// Expands the phrase notation of configs/lexicon.yaml to the word sequences that it stands for.

/** More than this is a mistake in the lexicon. */
const MAX_EXPANSIONS = 500;

/** "sharp/crisp enough?" → sharp, sharp enough, crisp, crisp enough. */
export function expandPhrase(phrase: string): string[][] {
  let sequences: string[][] = [[]];
  for (const part of phrase.trim().split(/\s+/)) {
    const variants = expandPart(part);
    sequences = sequences.flatMap((sequence) => variants.map((variant) => [...sequence, ...variant]));
    if (sequences.length > MAX_EXPANSIONS)
      throw new TypeError(`Expected at most ${MAX_EXPANSIONS} word sequences for the phrase "${phrase}"`);
  }
  return sequences.filter((sequence) => sequence.length > 0);
}

function expandPart(part: string): string[][] {
  const optional = part.endsWith('?');
  const alternatives = (optional ? part.slice(0, -1) : part).split('/').flatMap(expandHyphens);
  return optional ? [[], ...alternatives] : alternatives;
}

/** Texts are split at hyphens, so "over-exposed" matches as two words and "overexposed" as one. */
function expandHyphens(word: string): string[][] {
  const pieces = word.split('-');
  return pieces.length === 1 ? [[word]] : [pieces, [pieces.join('')]];
}
