// The published TypeBox schemas, enforced at the door both ways: requests that do not fit are refused, answers that do not fit never leave.
import type { FastifySchemaCompiler } from 'fastify';
import type { FastifySerializerCompiler } from 'fastify/types/schema.js';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { explain } from '../../schemas/validation/explain.ts';
import { ValidationError } from '../../schemas/validation/model.ts';

export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema);
  return (value: unknown) =>
    validator.Check(value) ? { value } : { error: new ValidationError(httpPart ?? 'request', explain(schema, value)) };
};

/** Fastify's own serializer reads schemas as Draft 7, which has another notation for tuples, and drops what it does not know. */
export const compileSerializer: FastifySerializerCompiler<TSchema> = ({ schema, url }) => {
  const validator = Compile(schema);
  return (value: unknown) => {
    if (!validator.Check(value)) {
      throw new Error(
        `The answer of ${url} breaks its schema: ${explain(schema, value)
          .map((found) => found.message)
          .join('; ')}`,
      );
    }
    return JSON.stringify(value);
  };
};
