// GET /schemas and /schemas/{name}: the published models as JSON Schema documents.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { buildJsonSchema } from '../schemas/validation/model.ts';
import { PUBLISHED_MODELS } from '../schemas/published.ts';
import { IqaError } from '../src/errors.ts';
import { jsonResponse, problemResponses } from './openapi/responses.ts';

const Document = Type.Record(Type.String(), Type.Unknown(), { description: 'A JSON Schema, Draft 2020-12.' });

export const schemaRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const documents = new Map(Object.entries(PUBLISHED_MODELS).map(([name, model]) => [name, buildJsonSchema(model)]));

  app.get(
    '/schemas',
    {
      schema: {
        tags: ['about'],
        summary: 'Names of the published models',
        response: {
          200: jsonResponse(
            'All names.',
            Type.Object({
              schemas: Type.Array(Type.String({ description: 'A name for /schemas/{name}.' }), {
                description: 'Every published model.',
              }),
            }),
          ),
        },
      },
    },
    () => ({ schemas: [...documents.keys()] }),
  );

  app.get(
    '/schemas/:name',
    {
      schema: {
        tags: ['about'],
        summary: 'One model as JSON Schema',
        params: Type.Object({ name: Type.String({ description: 'Name of the model.' }) }),
        response: { 200: jsonResponse('The schema.', Document, 'application/schema+json'), ...problemResponses(404) },
      },
    },
    async ({ params }, reply) => {
      const document = documents.get(params.name);
      if (!document)
        throw new IqaError(
          'IQA_INPUT_NOT_FOUND',
          `Expected one of ${[...documents.keys()].join(', ')} but received "${params.name.slice(0, 60)}"`,
        );
      return reply.type('application/schema+json').serializer(JSON.stringify).send(document);
    },
  );
};
