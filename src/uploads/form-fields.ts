// The text fields of a multipart form: converted to the values that the request schema checks.
import type { MultipartValue } from '@fastify/multipart';
import { IqaError } from '../errors.ts';
import type { SpooledFile } from './spool.ts';

export interface FormFields<F extends string> {
  /** The file fields, with the number of files each takes; a field with several files is repeated. */
  files: Readonly<Record<F, number>>;
  /** File fields for which an empty value is an error and not an omitted field. */
  required: readonly string[];
  json: readonly string[];
  /** May be repeated, one item each. */
  lists: readonly string[];
  numbers: readonly string[];
  /** Of one file. */
  maxBytes: number;
  /** Of all files together. */
  maxTotalBytes: number;
}

export interface Form<F extends string> {
  files: Map<F, SpooledFile[]>;
  /** What the published schema checks; a file is represented by its id in the spool. */
  body: Record<string, unknown>;
}

export const MAX_FIELD_BYTES = 100_000;
export const MAX_FIELD_NAME_BYTES = 100;
const MAX_DEPTH = 32;

export function readField<F extends string>(part: MultipartValue, { body }: Form<F>, fields: FormFields<F>): void {
  const name = part.fieldname;
  if (part.fieldnameTruncated || Buffer.byteLength(name) > MAX_FIELD_NAME_BYTES)
    throw tooLarge(`Expected field names of at most ${MAX_FIELD_NAME_BYTES} bytes but received a longer one`);
  // Browsers send empty text for an omitted field, also for a file that was not chosen. An empty query is an error.
  if (part.value === '' && name !== 'query' && !fields.required.includes(name)) return;
  // Text must never be taken for the path of a file.
  if (Object.hasOwn(fields.files, name)) throw invalidInput(`Expected a file for ${name} but received text`);
  if (part.valueTruncated)
    throw tooLarge(`Expected at most ${MAX_FIELD_BYTES} bytes for ${shorten(name)} but received more`);
  if (fields.lists.includes(name) && typeof part.value === 'string' && !/^\s*\[/.test(part.value)) {
    const items: unknown = body[name] ?? [];
    if (!Array.isArray(items)) assertOnce(name, body);
    body[name] = [...(items as unknown[]), part.value];
    return;
  }
  assertOnce(name, body);
  // A part declared as application/json arrives parsed.
  const value: unknown = typeof part.value === 'string' ? parseValue(name, part.value, fields) : part.value;
  assertMaxDepth(value, shorten(name));
  body[name] = value;
}

/** Leaves text that does not parse as a number to the schema check. */
function parseValue(name: string, text: string, { numbers, json }: FormFields<string>): unknown {
  if (numbers.includes(name)) return /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : text;
  if (!json.includes(name)) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw invalidInput(`Expected JSON for ${name} but received ${shorten(JSON.stringify(text))}`);
  }
}

/** Runs before the recursive schema check, whose stack a deeply nested value would overflow. */
export function assertMaxDepth(value: unknown, name: string): void {
  if (measureDepth(value) > MAX_DEPTH)
    throw invalidInput(`Expected at most ${MAX_DEPTH} levels of nesting for ${name} but received more`);
}

/** Level by level instead of recursively; stops beyond the limit. */
function measureDepth(value: unknown): number {
  let level = [value];
  let depth = 0;
  while (level.length > 0 && depth <= MAX_DEPTH) {
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null ? (Object.values(item) as unknown[]) : [],
    );
    depth += 1;
  }
  return depth;
}

export function assertOnce(name: string, body: Record<string, unknown>): void {
  if (name in body) throw invalidInput(`Expected ${shorten(name)} once but received it twice`);
}

export const invalidInput = (message: string) => new IqaError('IQA_INPUT_INVALID', message);
export const tooLarge = (message: string) => new IqaError('IQA_INPUT_TOO_LARGE', message);
export const shorten = (text: string) => (text.length > 60 ? `${text.slice(0, 57)}...` : text);
