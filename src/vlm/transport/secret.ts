// API keys: a wrapper that cannot be printed, and redaction of keys in texts from outside.
import { inspect } from 'node:util';

export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}

const HIDDEN = '(key)';
/** The usual shapes of API keys, including keys partly masked with asterisks. */
const KEY_SHAPES = /\b(?:sk-[\w*.-]{6,}|AIza[\w*-]{10,})/g;

/** Removes our keys and everything else that looks like a key. */
export function createRedactor(secrets: readonly Secret[]): (text: string) => string {
  const remove = createKeyRemover(secrets);
  return (text) => remove(text).replaceAll(KEY_SHAPES, HIDDEN);
}

/** Removes our keys from a text: plain, escaped in JSON or URLs (up to three levels), and inside base64. */
export function createKeyRemover(secrets: readonly Secret[]): (text: string) => string {
  const patterns = secrets
    .map((secret) => secret.reveal())
    .filter(isLongEnoughToRedact)
    .flatMap((value) => [buildEscapedPattern(value), ...buildBase64Patterns(value)]);
  const keys = patterns.length > 0 ? new RegExp(patterns.join('|'), 'gi') : null;
  return (text) => (keys ? text.replaceAll(keys, HIDDEN) : text);
}

/** Servers without keys get placeholders such as "none" or "EMPTY"; redacting these would damage replies. */
const isLongEnoughToRedact = (value: string): boolean =>
  value.length >= 8 || (value.length >= 4 && /[a-z]/i.test(value) && /[^a-z]/i.test(value));

/**
 * Matches each character plain, as \u002d with the backslashes of nested JSON, or as %2D, also encoded repeatedly.
 * The repetitions are bounded, so that a text of backslashes does not take seconds.
 */
function buildEscapedPattern(value: string): string {
  return Array.from(value, (character) => {
    const unicode = character.charCodeAt(0).toString(16).padStart(4, '0');
    const percent = [...Buffer.from(character)]
      .map((byte) => `%(?:25){0,3}${byte.toString(16).padStart(2, '0')}`)
      .join('');
    return `(?:\\\\{0,4}${escapeRegExp(character)}|\\\\{1,4}u${unicode}|${percent})`;
  }).join('');
}

const MIN_BASE64_LENGTH = 8;

/** Base64 of any text that contains the key: one pattern per alignment (three), without the characters shared with the neighbouring bytes. */
function buildBase64Patterns(value: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)]);
    const inner = bytes.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
    return inner.length < MIN_BASE64_LENGTH ? [] : [inner.replaceAll('+', '[+-]').replaceAll('/', '\\\\{0,4}[/_]')];
  });
}

const escapeRegExp = (character: string): string => character.replace(/[$()*+.?[\\\]^{|}/-]/, '\\$&');
