// What tests need of a model beyond production: its examples, and its JSON text.
import type { Static, TSchema } from 'typebox';
import { buildJsonSchema, parse, type RuleContext } from '../../../schemas/validation/model.ts';

export const examplesOf = (schema: TSchema): unknown[] => (buildJsonSchema(schema)['examples'] ?? []) as unknown[];

export const serialize = <S extends TSchema>(schema: S, value: Static<S>, context: RuleContext = {}): string =>
  JSON.stringify(parse(schema, value, context));
