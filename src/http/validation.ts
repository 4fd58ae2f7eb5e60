// Compiles the published TypeBox schemas into Fastify's validator and serializer; a response that breaks its schema is not sent.
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

/** Fastify's own serializer reads schemas as Draft 7, whose tuples differ, and drops unknown fields. */
export const compileSerializer: FastifySerializerCompiler<TSchema> = ({ schema, url }) => {
  const validator = Compile(schema);
  return (value: unknown) => {
    if (!validator.Check(value)) {
      const issues = explain(schema, value).map(({ message }) => message);
      throw new Error(`The response of ${url} breaks its schema: ${issues.join('; ')}`);
    }
    return JSON.stringify(value);
  };
};
