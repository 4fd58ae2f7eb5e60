// GET /errors and /errors/{code}: what the codes of problems mean; a problem's `type` leads here.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { ERROR_KINDS, IqaError } from '../src/errors.ts';
import { answer, problems } from './openapi/responses.ts';

const ErrorInfo = Type.Object(
  {
    code: Type.String({ description: 'Stable code for programs.' }),
    status: Type.Integer({ description: 'HTTP status.' }),
    title: Type.String({ description: 'What it means.' }),
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
          200: answer(
            'Every code with its meaning.',
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
        response: { 200: answer('The meaning of the code.', ErrorInfo), ...problems(404) },
      },
    },
    ({ params }) => {
      const found = errors.find(({ code }) => code === params.code);
      if (!found) throw new IqaError('IQA_INPUT_NOT_FOUND', `There is no error code ${params.code.slice(0, 60)}`);
      return found;
    },
  );
};
