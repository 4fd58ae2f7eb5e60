// p of the five levels out of a model's log-probabilities, at the place in its answer where it named the level.
import { LEVELS, type Level, type LevelProbabilities } from '../../schemas/vocabulary.ts';
import type { TokenLogprobs, TokenCandidate } from './client.ts';

/** Letters as the paper uses them: A is Excellent. */
const LETTERS: Record<string, Level> = { a: 'Excellent', b: 'Good', c: 'Fair', d: 'Poor', e: 'Bad' };
/** Where less than this of the listed probability speaks of levels, the place was not that of the level. */
const LEAST_MASS = 0.05;

/** Probabilities from the token with which the value of `field` begins, or null where the tokens do not tell. `said`: that value, where it is known. */
export function levelsFromLogprobs(
  tokens: readonly TokenLogprobs[] | null,
  field: string,
  said?: unknown,
): LevelProbabilities | null {
  const place = tokens ? tokenAtValue(tokens, field, said) : null;
  if (!place) return null;
  const candidates = place.alternatives.length > 0 ? place.alternatives : [place];
  const asLetters = /^[a-e]$/.test(place.spoken);
  const masses = new Map<Level, number>();
  let listed = 0;
  let smallest = 1;
  for (const { token, logprob } of withSpoken(candidates, place)) {
    const probability = Math.min(1, Math.exp(logprob));
    // Servers write null or −9999 for what is too improbable: no probability, and none to bound the others by.
    if (!(probability > 0)) continue;
    listed += probability;
    smallest = Math.min(smallest, probability);
    const level = levelOfToken(token, asLetters);
    if (level) masses.set(level, (masses.get(level) ?? 0) + probability);
  }
  const named = [...masses.values()].reduce((sum, mass) => sum + mass, 0);
  if (named < LEAST_MASS) return null;
  // A level beyond the listed tokens has at most the probability of the last one listed, and at most its share of what is left.
  const missing = LEVELS.filter((level) => !masses.has(level));
  const floor = missing.length === 0 ? 0 : Math.min(smallest, Math.max(0, 1 - listed) / missing.length);
  const total = named + floor * missing.length;
  return Object.fromEntries(LEVELS.map((level) => [level, (masses.get(level) ?? floor) / total])) as LevelProbabilities;
}

/** The level alone, spread as the tools' mean is spread in the fusion: exp(−(c − level)²). */
export function levelsFromClassification(level: Level): LevelProbabilities {
  const at = LEVELS.indexOf(level);
  const shares = LEVELS.map((_, index) => Math.exp(-((index - at) ** 2)));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return Object.fromEntries(LEVELS.map((name, index) => [name, (shares[index] ?? 0) / total])) as LevelProbabilities;
}

/** Five numbers as a model declares them, brought to a sum of one; null where they say nothing. */
export function levelsFromDeclaration(
  declared: Partial<Record<Level, number>> | null | undefined,
): LevelProbabilities | null {
  const values = LEVELS.map((level) => Math.max(0, declared?.[level] ?? 0));
  const total = values.reduce((sum, value) => sum + value, 0);
  if (!declared || !(total > 0)) return null;
  return Object.fromEntries(LEVELS.map((level, index) => [level, (values[index] ?? 0) / total])) as LevelProbabilities;
}

/** Servers list the spoken token among the alternatives, or not. */
function withSpoken(candidates: readonly TokenCandidate[], place: TokenCandidate): readonly TokenCandidate[] {
  return candidates.some(({ token }) => token === place.token) ? candidates : [...candidates, place];
}

/** Casing, quotes, leading spaces and parts of a word are variants of the same: no two levels share a first letter. */
function levelOfToken(token: string, asLetters: boolean): Level | undefined {
  const word = lettersOf(token);
  if (word === '') return undefined;
  // Where letters are spoken a whole word still means its level; a single letter is one of A–E.
  if (asLetters && word.length === 1) return LETTERS[word];
  return LEVELS.find((level) => level.toLowerCase().startsWith(word) || word.startsWith(level.toLowerCase()));
}

const lettersOf = (token: string): string =>
  token
    .toLowerCase()
    .replace(/^[^a-z]+/, '')
    .replace(/[^a-z].*$/s, '');

/**
 * The first token that holds a letter of the value: `"field" : "` may share its tokens with what comes before and after.
 * A model that thought aloud may have named the field before: the last place with the value that counts is meant.
 */
function tokenAtValue(
  tokens: readonly TokenLogprobs[],
  field: string,
  said: unknown,
): (TokenLogprobs & { spoken: string }) | null {
  const text = tokens.map(({ token }) => token).join('');
  const matches = [...text.matchAll(new RegExp(`"${field}"\\s*:\\s*"\\s*`, 'gi'))];
  const isMeant = ({ index, 0: opening }: RegExpExecArray) =>
    typeof said !== 'string' || text.slice(index + opening.length).startsWith(said.trim());
  const match = matches.findLast(isMeant);
  if (!match && matches.length > 0) return null;
  // An answer that is nothing but the level.
  const start = match ? match.index + match[0].length : /^\W*[a-z]+\W*$/i.test(text) ? text.search(/[a-z]/i) : -1;
  if (start < 0) return null;
  let at = 0;
  for (const token of tokens) {
    const end = at + token.token.length;
    if (end > start) {
      const own = token.token.slice(Math.max(0, start - at));
      const value = /^[a-z]+/i.exec(text.slice(start))?.[0].toLowerCase() ?? '';
      return /[a-z]/i.test(own) ? { ...token, spoken: value } : null;
    }
    at = end;
  }
  return null;
}
