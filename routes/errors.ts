// GET /errors and /errors/{code}: the error codes. The `type` of a problem is the URL of its code.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { ERROR_KINDS, IqaError } from '../src/errors.ts';
import { jsonResponse, problemResponses } from './openapi/responses.ts';

const ErrorInfo = Type.Object(
  {
    code: Type.String({ description: 'Stable code for programs.' }),
    status: Type.Integer({ description: 'HTTP status.' }),
    title: Type.String({ description: 'Short description.' }),
    retryable: Type.Boolean({ description: 'Whether the same request may succeed later.' }),
  },
  { description: 'One error code.' },
);

export const errorRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const errors = Object.entries(ERROR_KINDS).map(([code, kind]) => ({ code, ...kind }));

  app.get(
    '/errors',
    {
      schema: {
        tags: ['about'],
        summary: 'The error codes',
        response: {
          200: jsonResponse(
            'All error codes.',
            Type.Object({ errors: Type.Array(ErrorInfo, { description: 'All codes.' }) }),
          ),
        },
      },
    },
    () => ({ errors }),
  );

  app.get(
    '/errors/:code',
    {
      schema: {
        tags: ['about'],
        summary: 'One error code',
        params: Type.Object({ code: Type.String({ description: 'The code of a problem.' }) }),
        response: { 200: jsonResponse('The error code.', ErrorInfo), ...problemResponses(404) },
      },
    },
    ({ params }) => {
      const found = errors.find(({ code }) => code === params.code);
      if (!found) throw new IqaError('IQA_INPUT_NOT_FOUND', `No error code ${params.code.slice(0, 60)}`);
      return found;
    },
  );
};
