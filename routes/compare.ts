// POST /compare: the door of comparisons. Receives two to eight pictures as a form or JSON; the work is the comparer's.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { Logger } from 'pino';
import Type from 'typebox';
import { CompareJsonRequest, CompareRequest } from '../schemas/requests/compare.ts';
import { Comparison } from '../schemas/responses/comparison.ts';
import { PICTURES_AT_ONCE, type Comparer } from '../src/comparisons/compare.ts';
import { receiveComparison, receiveJsonComparison } from '../src/uploads/compare-form.ts';
import { orAborted } from '../src/pipeline/stage.ts';
import { answer, OWN_REQUEST_ID, problems } from './openapi/responses.ts';
import { buildDoor, type DoorOptions } from '../src/uploads/upload-hooks.ts';
import { hangUpSignal } from '../src/http/client-disconnect.ts';

export interface CompareRouteOptions extends DoorOptions {
  compare: Comparer;
}

const schema = {
  tags: ['assessment'],
  summary: 'Compare the quality of two to eight images',
  description:
    'Asks the same question about every picture and ranks the answers: scores with intervals, and for every two pictures which is better, how sure ' +
    'that is, and what is worse in the other. Where the intervals do not tell two of them apart it says "too close to call". With a reference, of which ' +
    'all pictures are versions, the full-reference tools are used. Each picture is one assessment; all files together may be as large as two.',
  headers: Type.Object(OWN_REQUEST_ID),
  body: {
    content: { 'multipart/form-data': { schema: CompareRequest }, 'application/json': { schema: CompareJsonRequest } },
  },
  response: { 200: answer('The ranking.', Comparison), ...problems(400, 408, 413, 415, 422, 500, 502, 503, 504) },
};

export const compareRoutes: FastifyPluginAsyncTypebox<CompareRouteOptions> = async (app, options) => {
  const { compare } = options;
  const { receivedBy, ...entrance } = buildDoor(
    app,
    options,
    { form: receiveComparison, json: receiveJsonComparison },
    PICTURES_AT_ONCE,
  );

  app.route({
    method: 'POST',
    url: '/compare',
    schema,
    ...entrance,
    handler: async (request, reply) => {
      const signal = hangUpSignal(reply);
      const { session, ...upload } = await receivedBy(request);
      return orAborted(
        compare({ ...upload, session, requestId: request.id, log: request.log as Logger, signal }),
        signal,
      );
    },
  });
};
