// Helpers for tests of invalid input: the ValidationError, its issues and their paths.
import type { Test } from 'tap';
import type { TSchema } from 'typebox';
import type { Issue } from '../../../schemas/validation/explain.ts';
import { parse, ValidationError, type RuleContext } from '../../../schemas/validation/model.ts';

export type Fields = Record<string, unknown>;

/** The error with which the input is refused; anything else thrown, or nothing at all, fails the test. */
export function refusal(schema: TSchema, input: unknown, context: RuleContext = {}): ValidationError {
  try {
    parse(schema, input, context);
  } catch (error) {
    if (error instanceof ValidationError) return error;
    throw error;
  }
  throw new Error(`Expected a ValidationError but ${JSON.stringify(input)} was accepted`);
}

export const refusedPaths = (schema: TSchema, input: unknown, context: RuleContext = {}): string[] =>
  refusal(schema, input, context).issues.map((found) => found.path);

export function onlyIssue(schema: TSchema, input: unknown, context: RuleContext = {}): Issue {
  const { issues } = refusal(schema, input, context);
  if (issues.length !== 1 || !issues[0]) throw new Error(`Expected one issue but received ${JSON.stringify(issues)}`);
  return issues[0];
}

export const isAccepted = (schema: TSchema, input: unknown): boolean => {
  try {
    parse(schema, input);
    return true;
  } catch (error) {
    if (error instanceof ValidationError) return false;
    throw error;
  }
};

export interface FieldCases {
  schema: TSchema;
  /** A valid value, whose one field is replaced. */
  base: Fields;
  accepts: readonly unknown[];
  refuses: readonly unknown[];
}

/** Puts each value into the field: accepted values are returned unchanged, refused ones cause issues of this field only. */
export function checkField(t: Test, field: string, { schema, base, accepts, refuses }: FieldCases): void {
  for (const value of accepts) {
    t.strictSame(
      (parse(schema, { ...base, [field]: value }) as Fields)[field],
      value,
      `${field} accepts ${shown(value)}`,
    );
  }
  for (const value of refuses) {
    const paths = refusedPaths(schema, { ...base, [field]: value });
    t.ok(
      paths.length > 0 && paths.every((path) => path === `/${field}` || path.startsWith(`/${field}/`)),
      `${field} refuses ${shown(value)}`,
    );
  }
}

/** Removes each field in turn: exactly the named ones are required. */
export function checkRequired(t: Test, schema: TSchema, base: Fields, required: readonly string[]): void {
  for (const field of Object.keys(base)) {
    const rest = without(base, field);
    if (required.includes(field)) {
      const { path, received } = onlyIssue(schema, rest);
      t.strictSame({ path, received }, { path: `/${field}`, received: 'nothing' }, `${field} is required`);
    } else {
      t.doesNotThrow(() => parse(schema, rest), `${field} is optional`);
    }
  }
}

export const without = (base: Fields, field: string): Fields =>
  Object.fromEntries(Object.entries(base).filter(([key]) => key !== field));

/** A value as one short line of JSON, for the test output. */
export const shown = (value: unknown): string =>
  typeof value === 'number' ? String(value) : JSON.stringify(value).replaceAll('\u2028', ' ').slice(0, 200);
