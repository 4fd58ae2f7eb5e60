// Between words and lexicon: a word that no list knows is read as a known one that differs by spelling, by ending, or by one slip of the finger.

export type Reading = 'spelling' | 'ending' | 'typo';

export interface Speller {
  /** The known word that is meant, and by what it differs; null where there is none. */
  correct: (word: string) => { word: string; by: Reading } | null;
}

/** Shorter words have too many neighbours: "dark", "park", "bark". */
const MIN_TYPO_LENGTH = 5;
/** Nothing longer is a word; it would only cost time. */
const MAX_LENGTH = 24;
const MIN_STEM_LENGTH = 3;

/** Of several known words that fit, the one listed first is taken. `topical` are those that a slip or another ending may lead to. */
export function createSpeller(known: Iterable<string>, topical: Iterable<string>): Speller {
  const bySpelling = new Map<string, string>();
  const byStem = new Map<string, string>();
  const byDeletion = new Map<string, string[]>();
  for (const word of known) setOnce(bySpelling, americanOf(word), word);
  for (const word of topical) {
    setOnce(bySpelling, squeeze(americanOf(word)), word);
    setOnce(byStem, stemOf(word), word);
    if (word.length >= MIN_TYPO_LENGTH)
      for (const key of [word, ...deletionsOf(word)]) byDeletion.set(key, [...(byDeletion.get(key) ?? []), word]);
  }
  return {
    correct: (word) => {
      if (word.length < 4 || word.length > MAX_LENGTH || !/^[a-z]+$/.test(word)) return null;
      const spelt = bySpelling.get(americanOf(word)) ?? bySpelling.get(squeeze(americanOf(word)));
      if (spelt !== undefined) return { word: spelt, by: 'spelling' };
      const inflected = word.length >= MIN_TYPO_LENGTH ? byStem.get(stemOf(word)) : undefined;
      if (inflected !== undefined) return { word: inflected, by: 'ending' };
      const slipped = nearest(word, byDeletion);
      return slipped === undefined ? null : { word: slipped, by: 'typo' };
    },
  };
}

function setOnce(index: Map<string, string>, key: string, word: string): void {
  if (!index.has(key)) index.set(key, word);
}

/** One form for both sides of the ocean: "colour" and "color", "posterisation" and "posterization", "centre", "labelled". */
export function americanOf(word: string): string {
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

/** "bluured", "blury" and "sooo noisyyy" differ from what is meant by doubled letters only. */
const squeeze = (word: string): string => word.replace(/(.)\1+/g, '$1');

const ENDINGS =
  /(?:ization|ation|iness|ized|ated|ness|ate|ize|ion|ness|iest|ier|ily|ish|ers|est|ing|ied|ies|ens|ened|ening|en|ed|er|es|ly|s|y|e)$/;

/** The part of a word that its family shares: "noise", "noisy", "noisily" → "nois". Twice, because endings pile up. */
export function stemOf(word: string): string {
  let stem = americanOf(word);
  for (let round = 0; round < 2; round += 1) {
    const shorter = stem.replace(ENDINGS, '');
    if (shorter.length < MIN_STEM_LENGTH) break;
    stem = shorter;
  }
  return squeeze(stem);
}

const deletionsOf = (word: string): string[] =>
  Array.from(word, (_, index) => word.slice(0, index) + word.slice(index + 1));

/** One letter missing, added, wrong or exchanged with its neighbour; the first letter is nearly always right. */
function nearest(word: string, byDeletion: ReadonlyMap<string, readonly string[]>): string | undefined {
  if (word.length < MIN_TYPO_LENGTH) return undefined;
  const candidates = new Set([word, ...deletionsOf(word)].flatMap((key) => byDeletion.get(key) ?? []));
  return [...candidates].find((candidate) => candidate[0] === word[0] && isOneSlip(word, candidate));
}

function isOneSlip(left: string, right: string): boolean {
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
