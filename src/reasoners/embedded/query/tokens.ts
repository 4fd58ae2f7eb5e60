// First step of understanding: turns the user's text, whatever it contains, into plain words with their boundaries.
import type { Reading, Speller } from './spelling.ts';

/** What stands between a word and the one before it. */
export type Boundary = 'start' | 'none' | 'joined' | 'comma' | 'stop';

export interface Token {
  /** In lower case, for matching. */
  word: string;
  /** Position in the cleaned text. */
  start: number;
  end: number;
  boundary: Boundary;
  /** As written, for names and acronyms. */
  text: string;
  /** How far `word` was read into the text: by another spelling or ending, or as a slip. */
  reading?: Reading;
}

/** No question that a lexicon could understand is longer; the rest is never looked at, so that time stays bounded. */
const MAX_CHARACTERS = 4_000;
const MAX_WORDS = 400;
/** Answer options are shorter, and there are up to 26 of them. */
const OPTION_LIMITS = { characters: 400, words: 60 };

/** Compatibility forms, invisible marks and control characters go; line breaks stay, because answer options need them. */
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

/** "Is IMG_2034.JPG blurry?" asks about the picture and names no codec; an address says nothing. */
export function withoutFileNames(text: string): string {
  return text.replace(FILE_NAME, 'image').replace(ADDRESS, ' ');
}

const CODE =
  /\b(?:SELECT|DELETE|INSERT|UPDATE|DROP|ALTER)\b[\s\S]*\b(?:FROM|INTO|SET|TABLE)\b|[{}]\s*$|^\s*\{|\$\{|\{\{|\{\s*(?:return|var|let|const)\b|<\/?(?:script|iframe|svg|img|system|object)\b/;

/** Programs and markup are no questions, whatever words of ours they contain. */
export const looksLikeCode = (text: string): boolean => CODE.test(text.slice(0, MAX_CHARACTERS));

/** Only what is read for distortions; the option itself keeps its full text. */
export function tokenizeOption(text: string, speller: Speller): Token[] {
  const cleaned = cleanText(text, OPTION_LIMITS.characters);
  return spell(cleaned, tokenize(cleaned, OPTION_LIMITS.words), speller);
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
    const boundary = tokens.length === 0 ? 'start' : boundaryOf(text.slice(previousEnd, match.index));
    tokens.push({ word: match[0].toLowerCase(), text: match[0], start: match.index, end, boundary });
    if (tokens.length === maxWords) break;
    previousEnd = end;
  }
  return tokens;
}

/** Unknown words are replaced by the known ones that they stand for; what the user wrote stays in `text`. Names of a program ("__proto__") stay. */
export function spell(text: string, tokens: readonly Token[], { correct }: Speller): Token[] {
  return tokens.map((token) => {
    const corrected = text[token.start - 1] === '_' ? null : correct(token.word);
    return corrected ? { ...token, word: corrected.word, reading: corrected.by } : token;
  });
}

function boundaryOf(gap: string): Boundary {
  if (/[.?!;:\n…—–。？！]/.test(gap)) return 'stop';
  if (/[,()[\]]/.test(gap)) return 'comma';
  return /^[-_]$/.test(gap) ? 'joined' : 'none';
}
