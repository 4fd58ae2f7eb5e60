// Requests are checked by the same TypeBox schemas that are published, with the same sentences for what does not fit.
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { explain } from '../schemas/explain.ts';
import { ValidationError } from '../schemas/model.ts';

export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema);
  return (value: unknown) => (validator.Check(value) ? { value } : { error: new ValidationError(httpPart ?? 'request', explain(schema, value)) });
};
