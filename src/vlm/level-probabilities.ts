// Probabilities of the five levels: from log-probabilities at the token that names the level, from declared numbers, or from the level alone.
import { LEVELS, type Level, type LevelProbabilities } from '../../schemas/vocabulary.ts';
import type { TokenLogprobs, TokenCandidate } from './client.ts';

/** Letters as in the paper: A is Excellent. */
const LETTERS: Record<string, Level> = { a: 'Excellent', b: 'Good', c: 'Fair', d: 'Poor', e: 'Bad' };
/** If the level tokens have less probability in total, the position is not that of the level. */
const MIN_LEVEL_MASS = 0.05;

/** From the first token of the value of `field`; null if it cannot be found. `value`: the parsed value, if known. */
export function levelsFromLogprobs(
  tokens: readonly TokenLogprobs[] | null,
  field: string,
  value?: unknown,
): LevelProbabilities | null {
  const position = tokens ? findValueToken(tokens, field, value) : null;
  if (!position) return null;
  const candidates = position.alternatives.length > 0 ? position.alternatives : [position];
  const asLetters = /^[a-e]$/.test(position.word);
  const masses = new Map<Level, number>();
  let listed = 0;
  let smallest = 1;
  for (const { token, logprob } of withGenerated(candidates, position)) {
    const probability = Math.min(1, Math.exp(logprob));
    // Servers write null or −9999 for very improbable tokens, which must not bound the others.
    if (!(probability > 0)) continue;
    listed += probability;
    smallest = Math.min(smallest, probability);
    const level = findLevel(token, asLetters);
    if (level) masses.set(level, (masses.get(level) ?? 0) + probability);
  }
  const named = [...masses.values()].reduce((sum, mass) => sum + mass, 0);
  if (named < MIN_LEVEL_MASS) return null;
  // An unlisted level has at most the probability of the least likely listed token, and at most its share of the rest.
  const missing = LEVELS.filter((level) => !masses.has(level));
  const floor = missing.length === 0 ? 0 : Math.min(smallest, Math.max(0, 1 - listed) / missing.length);
  const total = named + floor * missing.length;
  return Object.fromEntries(LEVELS.map((level) => [level, (masses.get(level) ?? floor) / total])) as LevelProbabilities;
}

/** Spreads a single level like the fusion spreads the tools' mean: exp(−(c − level)²). */
export function levelsFromClassification(level: Level): LevelProbabilities {
  const at = LEVELS.indexOf(level);
  const shares = LEVELS.map((_, index) => Math.exp(-((index - at) ** 2)));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return Object.fromEntries(LEVELS.map((name, index) => [name, (shares[index] ?? 0) / total])) as LevelProbabilities;
}

/** Normalizes five declared numbers to a sum of one; null if all are zero. */
export function levelsFromDeclaration(
  declared: Partial<Record<Level, number>> | null | undefined,
): LevelProbabilities | null {
  const values = LEVELS.map((level) => Math.max(0, declared?.[level] ?? 0));
  const total = values.reduce((sum, value) => sum + value, 0);
  if (!declared || !(total > 0)) return null;
  return Object.fromEntries(LEVELS.map((level, index) => [level, (values[index] ?? 0) / total])) as LevelProbabilities;
}

/** Not all servers list the generated token among the alternatives. */
function withGenerated(candidates: readonly TokenCandidate[], generated: TokenCandidate): readonly TokenCandidate[] {
  return candidates.some(({ token }) => token === generated.token) ? candidates : [...candidates, generated];
}

/** Ignores case, quotes and leading spaces; a prefix is enough, because no two levels share a first letter. */
function findLevel(token: string, asLetters: boolean): Level | undefined {
  const word = extractLetters(token);
  if (word === '') return undefined;
  // With letters as labels, a single letter is one of A–E; a whole word still names its level.
  if (asLetters && word.length === 1) return LETTERS[word];
  return LEVELS.find((level) => level.toLowerCase().startsWith(word) || word.startsWith(level.toLowerCase()));
}

const extractLetters = (token: string): string =>
  token
    .toLowerCase()
    .replace(/^[^a-z]+/, '')
    .replace(/[^a-z].*$/s, '');

/**
 * The first token with a letter of the value; `"field": "` may share tokens with its neighbours.
 * Reasoning before the answer may contain the field too: the last occurrence with this value counts.
 */
function findValueToken(
  tokens: readonly TokenLogprobs[],
  field: string,
  expected: unknown,
): (TokenLogprobs & { word: string }) | null {
  const text = tokens.map(({ token }) => token).join('');
  const matches = [...text.matchAll(new RegExp(`"${field}"\\s*:\\s*"\\s*`, 'gi'))];
  const isExpected = ({ index, 0: opening }: RegExpExecArray) =>
    typeof expected !== 'string' || text.slice(index + opening.length).startsWith(expected.trim());
  const match = matches.findLast(isExpected);
  if (!match && matches.length > 0) return null;
  // A reply that consists only of the level.
  const start = match ? match.index + match[0].length : /^\W*[a-z]+\W*$/i.test(text) ? text.search(/[a-z]/i) : -1;
  if (start < 0) return null;
  let at = 0;
  for (const token of tokens) {
    const end = at + token.token.length;
    if (end > start) {
      const valuePart = token.token.slice(Math.max(0, start - at));
      const word = /^[a-z]+/i.exec(text.slice(start))?.[0].toLowerCase() ?? '';
      return /[a-z]/i.test(valuePart) ? { ...token, word } : null;
    }
    at = end;
  }
  return null;
}
