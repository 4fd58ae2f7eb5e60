// Corrects unknown words: to a known word with another spelling, another ending, or one typo.

export type CorrectionKind = 'spelling' | 'ending' | 'typo';

export interface Speller {
  /** The known word and how it differs; null where none is close enough. */
  correct: (word: string) => { word: string; by: CorrectionKind } | null;
}

/** Shorter words have too many neighbours ("dark", "park", "bark"). */
const MIN_TYPO_LENGTH = 5;
/** Longer strings are not words; checking them would only cost time. */
const MAX_LENGTH = 24;
const MIN_STEM_LENGTH = 3;

/** Of several matches the first listed wins. Only `topical` words are matched by ending or as typos. */
export function createSpeller(known: Iterable<string>, topical: Iterable<string>): Speller {
  const bySpelling = new Map<string, string>();
  const byStem = new Map<string, string>();
  const byDeletion = new Map<string, string[]>();
  for (const word of known) setIfAbsent(bySpelling, toAmericanSpelling(word), word);
  for (const word of topical) {
    setIfAbsent(bySpelling, collapseRepeats(toAmericanSpelling(word)), word);
    setIfAbsent(byStem, findStem(word), word);
    if (word.length >= MIN_TYPO_LENGTH)
      for (const key of [word, ...listDeletions(word)]) byDeletion.set(key, [...(byDeletion.get(key) ?? []), word]);
  }
  return {
    correct: (word) => {
      if (word.length < 4 || word.length > MAX_LENGTH || !/^[a-z]+$/.test(word)) return null;
      const spelt =
        bySpelling.get(toAmericanSpelling(word)) ?? bySpelling.get(collapseRepeats(toAmericanSpelling(word)));
      if (spelt !== undefined) return { word: spelt, by: 'spelling' };
      const inflected = word.length >= MIN_TYPO_LENGTH ? byStem.get(findStem(word)) : undefined;
      if (inflected !== undefined) return { word: inflected, by: 'ending' };
      const intended = findNearest(word, byDeletion);
      return intended === undefined ? null : { word: intended, by: 'typo' };
    },
  };
}

function setIfAbsent(index: Map<string, string>, key: string, word: string): void {
  if (!index.has(key)) index.set(key, word);
}

/** Maps British to American spelling: "colour", "posterisation", "centre", "labelled". */
export function toAmericanSpelling(word: string): string {
  return word
    .replace(/artef/, 'artif')
    .replace(/grey/, 'gray')
    .replace(/ae(?=s)/, 'e')
    .replace(/(?<=[a-z]{2})our(?=$|s$|ed$|ing$|ful|ation|i[sz]|less|ist)/, 'or')
    .replace(/(?<=[a-z]{3})is(?=(e|es|ed|ing|er|ers|ation|ations)$)/, 'iz')
    .replace(/ys(?=(e|es|ed|ing|er)$)/, 'yz')
    .replace(/tre(?=s?$)/, 'ter')
    .replace(/ll(?=(ed|ing|er|ation|ated)$)/, 'l')
    .replace(/ss(?=(ed|ing)$)/, 's')
    .replace(/ogue(?=s?$)/, 'og')
    .replace(/ence(?=s?$)/, 'ense')
    .replace(/^ph/, 'f');
}

/** "bluured", "blury" and "sooo noisyyy" differ from the intended word only in doubled letters. */
const collapseRepeats = (word: string): string => word.replace(/(.)\1+/g, '$1');

const ENDINGS =
  /(?:ization|ation|iness|ized|ated|ness|ate|ize|ion|ness|iest|ier|ily|ish|ers|est|ing|ied|ies|ens|ened|ening|en|ed|er|es|ly|s|y|e)$/;

/** "noise", "noisy", "noisily" → "nois". Two rounds, because endings are combined ("-en" + "-ed"). */
export function findStem(word: string): string {
  let stem = toAmericanSpelling(word);
  for (let round = 0; round < 2; round += 1) {
    const shorter = stem.replace(ENDINGS, '');
    if (shorter.length < MIN_STEM_LENGTH) break;
    stem = shorter;
  }
  return collapseRepeats(stem);
}

const listDeletions = (word: string): string[] =>
  Array.from(word, (_, index) => word.slice(0, index) + word.slice(index + 1));

/** One letter missing, added, wrong or swapped with its neighbour; the first letter must match. */
function findNearest(word: string, byDeletion: ReadonlyMap<string, readonly string[]>): string | undefined {
  if (word.length < MIN_TYPO_LENGTH) return undefined;
  const candidates = new Set([word, ...listDeletions(word)].flatMap((key) => byDeletion.get(key) ?? []));
  return [...candidates].find((candidate) => candidate[0] === word[0] && isOneEdit(word, candidate));
}

function isOneEdit(left: string, right: string): boolean {
  const length = Math.min(left.length, right.length);
  let start = 0;
  while (start < length && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < length - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  const [cut, other] = [left.slice(start, left.length - end), right.slice(start, right.length - end)];
  return (
    cut.length + other.length <= 1 ||
    (cut.length === 1 && other.length === 1) ||
    (cut.length === 2 && other.length === 2 && cut[0] === other[1] && cut[1] === other[0])
  );
}
