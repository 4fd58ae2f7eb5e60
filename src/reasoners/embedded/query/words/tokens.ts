// Splits the user's text into lower-case words with their positions and boundaries.
import type { CorrectionKind, Speller } from './spelling.ts';

/** What separates a word from the one before it. */
export type Boundary = 'start' | 'none' | 'joined' | 'comma' | 'stop';

export interface Token {
  /** Lower case, corrected. */
  word: string;
  /** Position in the cleaned text. */
  start: number;
  end: number;
  boundary: Boundary;
  /** As written. */
  text: string;
  /** Set when `word` differs from the text. */
  correction?: CorrectionKind;
}

/** Text beyond these limits is ignored, so that the time to parse stays bounded. */
const MAX_CHARACTERS = 4_000;
const MAX_WORDS = 400;
/** Answer options are shorter, and a question may have 26 of them. */
const OPTION_LIMITS = { characters: 400, words: 60 };

/** Normalizes compatibility forms and removes invisible marks and control characters; keeps line breaks, which answer options need. */
export function cleanText(text: string, maxCharacters = MAX_CHARACTERS): string {
  return text
    .slice(0, maxCharacters)
    .normalize('NFKC')
    .slice(0, maxCharacters)
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/\p{Cf}|\p{Cs}/gu, '')
    .replace(/[‘’ʼ`´]/g, "'")
    .replace(/[^\P{Cc}\n]|["“”«»*#<>{}|\\~^]/gu, ' ');
}

const FILE_NAME =
  /(?:[A-Za-z]:)?[^\s,;()'"]*\.(?:jpe?g|jp2|png|webp|avif|heic|heif|gif|bmp|tiff?|raw|dng|cr2|nef)(?![\p{L}\p{N}])/giu;
const ADDRESS = /\b(?:https?|ftp|file):\/\/\S+|\bwww\.\S+|\S+@\S+\.\S+/gi;

/** The extension in "Is IMG_2034.JPG blurry?" names no codec; addresses are dropped. */
export function replaceFileNames(text: string): string {
  return text.replace(FILE_NAME, 'image').replace(ADDRESS, ' ');
}

const CODE =
  /\b(?:SELECT|DELETE|INSERT|UPDATE|DROP|ALTER)\b[\s\S]*\b(?:FROM|INTO|SET|TABLE)\b|[{}]\s*$|^\s*\{|\$\{|\{\{|\{\s*(?:return|var|let|const)\b|<\/?(?:script|iframe|svg|img|system|object)\b/;

/** Code and markup are not questions, whatever lexicon words they contain. */
export const looksLikeCode = (text: string): boolean => CODE.test(text.slice(0, MAX_CHARACTERS));

/** Tokens of an answer option; the option itself keeps its full text. */
export function tokenizeOption(text: string, speller: Speller): Token[] {
  const cleaned = cleanText(text, OPTION_LIMITS.characters);
  return correctSpelling(cleaned, tokenize(cleaned, OPTION_LIMITS.words), speller);
}

export const isTooLong = (text: string): boolean => text.length > MAX_CHARACTERS;

/** Splits at hyphens ("out-of-focus" is three words) and before a possessive ("woman's" is "woman" and "'s"). */
export function tokenize(text: string, maxWords = MAX_WORDS): Token[] {
  const tokens: Token[] = [];
  let previousEnd = 0;
  for (const match of text.matchAll(
    /'s(?![\p{L}\p{N}])|[\p{L}\p{M}\p{N}]+(?:'(?!s(?![\p{L}\p{N}]))[\p{L}\p{M}]+)?/gu,
  )) {
    const end = match.index + match[0].length;
    const boundary = tokens.length === 0 ? 'start' : classifyBoundary(text.slice(previousEnd, match.index));
    tokens.push({ word: match[0].toLowerCase(), text: match[0], start: match.index, end, boundary });
    if (tokens.length === maxWords) break;
    previousEnd = end;
  }
  return tokens;
}

/** Replaces unknown words by known ones. Identifiers such as "__proto__" stay as they are. */
export function correctSpelling(text: string, tokens: readonly Token[], { correct }: Speller): Token[] {
  return tokens.map((token) => {
    const corrected = text[token.start - 1] === '_' ? null : correct(token.word);
    return corrected ? { ...token, word: corrected.word, correction: corrected.by } : token;
  });
}

function classifyBoundary(gap: string): Boundary {
  if (/[.?!;:\n…—–。？！]/.test(gap)) return 'stop';
  if (/[,()[\]]/.test(gap)) return 'comma';
  return /^[-_]$/.test(gap) ? 'joined' : 'none';
}
