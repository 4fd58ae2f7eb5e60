// A provider's key: usable, but not printable, and taken out of whatever comes back from outside.
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
/** What providers' keys look like, also half hidden by asterisks as providers themselves quote them. */
const KEY_SHAPES = /\b(?:sk-[\w*.-]{6,}|AIza[\w*-]{10,})/g;

/** Removes our keys, and whatever else looks like one. */
export function createRedactor(secrets: readonly Secret[]): (text: string) => string {
  const remove = createKeyRemover(secrets);
  return (text) => remove(text).replaceAll(KEY_SHAPES, HIDDEN);
}

/** Removes our keys from a text: as they are, as JSON and addresses escape them, up to three levels deep, and inside base64. */
export function createKeyRemover(secrets: readonly Secret[]): (text: string) => string {
  const patterns = secrets
    .map((secret) => secret.reveal())
    .filter(isTelling)
    .flatMap((value) => [escapedPattern(value), ...base64Patterns(value)]);
  const keys = patterns.length > 0 ? new RegExp(patterns.join('|'), 'gi') : null;
  return (text) => (keys ? text.replaceAll(keys, HIDDEN) : text);
}

/** Servers without keys are given words such as "none" or "EMPTY": taken out, they would take the words of answers along. */
const isTelling = (value: string): boolean =>
  value.length >= 8 || (value.length >= 4 && /[a-z]/i.test(value) && /[^a-z]/i.test(value));

/**
 * Each character plain, as \u002d behind the backslashes of nested JSON, or as %2D, also encoded twice.
 * The repetitions are bounded: a text of backslashes must not cost seconds.
 */
function escapedPattern(value: string): string {
  return Array.from(value, (character) => {
    const unicode = character.charCodeAt(0).toString(16).padStart(4, '0');
    const percent = [...Buffer.from(character)]
      .map((byte) => `%(?:25){0,3}${byte.toString(16).padStart(2, '0')}`)
      .join('');
    return `(?:\\\\{0,4}${literally(character)}|\\\\{1,4}u${unicode}|${percent})`;
  }).join('');
}

const SHORTEST_BASE64 = 8;

/** Base64 of any text that holds the key: three ways to lie on its six-bit grid, each without the characters shared with what stands before and after. */
function base64Patterns(value: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)]);
    const own = bytes.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
    return own.length < SHORTEST_BASE64 ? [] : [own.replaceAll('+', '[+-]').replaceAll('/', '\\\\{0,4}[/_]')];
  });
}

const literally = (character: string): string => character.replace(/[$()*+.?[\\\]^{|}/-]/, '\\$&');
