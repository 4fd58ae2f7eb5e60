// Finds the registry's tools that a question names, by name or alias.
import type { Lexicon } from './words/lexicon.ts';
import type { Span } from './words/segments.ts';
import { tokenize, type Token } from './words/tokens.ts';

export interface NamedTool {
  name: string;
  aliases: readonly string[];
}
interface ToolMention extends Span {
  name: string;
  refused: boolean;
}

interface Spelling {
  tool: string;
  words: string[];
  /** As registered: capitals distinguish an acronym from a word. */
  written: string;
  /** Whether it is also an English word: a `word` needs a hint beside it, a word of the `lexicon` a strong hint. */
  ordinary: 'no' | 'word' | 'lexicon';
}

const HINT_BEFORE = /^(use|using|run|running|compute|calculate|apply|applying|via)$/;
const HINT_AFTER = /^(score|scores|value|values)$/;
const STRONG_HINT_AFTER = /^(metric|index|tool|algorithm)$/;
/** "SSIM-based" means SSIM, but "IW-SSIM" and "PSNR-HVS" are other tools. */
const HARMLESS_SUFFIX = /^(based|score|scores|value|values|index|metric|like|style|wise)$/;
/** Tool names that are English words in lower case. */
const ENGLISH_WORD_NAMES = /^unique$/;
const REFUSAL = /^(not|don't|dont|never|without|except|excluding|instead|rather|than|no)$/;

export function findTools(tokens: readonly Token[], tools: readonly NamedTool[], lexicon: Lexicon): ToolMention[] {
  const spellings = getSpellings(tools, lexicon);
  const mentions: ToolMention[] = [];
  for (let position = 0; position < tokens.length; position += 1) {
    const candidates = spellings.get(tokens[position]?.word ?? '') ?? [];
    const spelling = candidates.find((candidate) => matchesAt(candidate, tokens, position));
    if (!spelling) continue;
    const to = position + spelling.words.length;
    mentions.push({ name: spelling.tool, from: position, to, refused: isRefused(tokens, position) });
    position = to - 1;
  }
  return mentions;
}

/** The registry is the same for every question, so its spellings are computed once. */
const spellingCache = new WeakMap<readonly NamedTool[], { lexicon: Lexicon; spellings: Map<string, Spelling[]> }>();

function getSpellings(tools: readonly NamedTool[], lexicon: Lexicon): Map<string, Spelling[]> {
  const known = spellingCache.get(tools);
  if (known?.lexicon === lexicon) return known.spellings;
  const spellings = indexSpellings(tools, lexicon);
  spellingCache.set(tools, { lexicon, spellings });
  return spellings;
}

/** Keyed by first word; longest first, so that "MS-SSIM" is not read as "SSIM". */
function indexSpellings(tools: readonly NamedTool[], lexicon: Lexicon): Map<string, Spelling[]> {
  const byFirst = new Map<string, Spelling[]>();
  for (const tool of tools) {
    for (const written of [tool.name, ...tool.aliases]) {
      const words = tokenize(written).map((token) => token.word);
      const ordinary = classifySpelling(written, words, tool.name, lexicon);
      const variants = words.length > 1 && !written.includes(' ') ? [words, [words.join('')]] : [words];
      for (const variant of variants) {
        const first = variant[0];
        if (first !== undefined)
          byFirst.set(first, [...(byFirst.get(first) ?? []), { tool: tool.name, words: variant, written, ordinary }]);
      }
    }
  }
  for (const list of byFirst.values()) list.sort((left, right) => right.words.length - left.words.length);
  return byFirst;
}

/** "panel", "Fusion" and "image quality" are ordinary words; "SSIM", "vifp" and "structural similarity" are not. */
function classifySpelling(
  written: string,
  words: readonly string[],
  name: string,
  lexicon: Lexicon,
): Spelling['ordinary'] {
  if (words.every((word) => lexicon.knows(word))) return 'lexicon';
  if (words.length === 1 && ENGLISH_WORD_NAMES.test(words[0] ?? '')) return 'word';
  if (words.length > 1 || /\d/.test(written)) return 'no';
  const varies = isAcronym(name) && written.toLowerCase().includes(name.toLowerCase());
  return isAcronym(written) || varies ? 'no' : 'word';
}

const isAcronym = (text: string): boolean => /\p{Lu}.*\p{Lu}/u.test(text);

function matchesAt(spelling: Spelling, tokens: readonly Token[], position: number): boolean {
  const to = position + spelling.words.length;
  const found = tokens.slice(position, to);
  if (found.length < spelling.words.length || !found.every((token, index) => token.word === spelling.words[index]))
    return false;
  if (found.slice(1).some((token) => token.boundary !== 'none' && token.boundary !== 'joined')) return false;
  if (tokens[position]?.boundary === 'joined') return false;
  const after = tokens[to];
  if (after?.boundary === 'joined' && !HARMLESS_SUFFIX.test(after.word)) return false;
  return spelling.ordinary === 'no' || isWrittenAsAcronym(spelling, found) || hasHint(spelling, tokens, position, to);
}

const isWrittenAsAcronym = (spelling: Spelling, found: readonly Token[]): boolean =>
  /^\p{Lu}{2,}$/u.test(spelling.written) && found.length === 1 && found[0]?.text === spelling.written;

function hasHint(spelling: Spelling, tokens: readonly Token[], from: number, to: number): boolean {
  const before = tokens[from - 1];
  const wordBefore = (before && /^(the|a|an)$/.test(before.word) ? tokens[from - 2] : before)?.word ?? '';
  const wordAfter = tokens[to]?.boundary === 'none' ? tokens[to].word : '';
  if (STRONG_HINT_AFTER.test(wordAfter)) return true;
  return spelling.ordinary === 'word' && (HINT_AFTER.test(wordAfter) || HINT_BEFORE.test(wordBefore));
}

/** "Use VSI, not SSIM", "instead of SSIM": looks back three words within the clause. */
function isRefused(tokens: readonly Token[], position: number): boolean {
  for (let back = 0; back < 3; back += 1) {
    const token = tokens[position - back - 1];
    if (!token || tokens[position - back]?.boundary === 'stop') return false;
    if (REFUSAL.test(token.word)) return true;
    if (tokens[position - back]?.boundary === 'comma') return false;
  }
  return false;
}
