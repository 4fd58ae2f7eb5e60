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

/** Removes the keys from a text, as they are and as addresses and JSON spell them. */
export function createRedactor(secrets: readonly Secret[]): (text: string) => string {
  const spellings = secrets.flatMap((secret) => {
    const value = secret.reveal();
    const base64 = Buffer.from(value).toString('base64').replace(/=+$/, '');
    return [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1), base64];
  }).filter((spelling) => spelling.length >= 4);
  return (text) => spellings.reduce((cleaned, spelling) => cleaned.replaceAll(spelling, HIDDEN), text).replaceAll(KEY_SHAPES, HIDDEN);
}
