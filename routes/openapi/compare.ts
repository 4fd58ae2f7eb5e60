// The OpenAPI description of POST /compare.
import Type from 'typebox';
import { CompareJsonRequest, CompareRequest } from '../../schemas/requests/compare.ts';
import { Comparison } from '../../schemas/responses/comparison.ts';
import { jsonResponse, problemResponses, REQUEST_ID_PARAM } from './responses.ts';

export const compareSchema = {
  tags: ['assessment'],
  summary: 'Compare the quality of two to eight images',
  description:
    'Asks the same question about every image and ranks the answers: scores with intervals, and for each pair which image is better, ' +
    'with what probability, and what is worse in the other one. A pair whose intervals overlap too much is "too close to call". ' +
    'With a reference, of which all images are versions, the full-reference tools are used. Each image is one assessment; ' +
    'all files together may have twice the maximum size of one file.',
  headers: Type.Object(REQUEST_ID_PARAM),
  body: {
    content: { 'multipart/form-data': { schema: CompareRequest }, 'application/json': { schema: CompareJsonRequest } },
  },
  response: {
    200: jsonResponse('The ranking.', Comparison),
    ...problemResponses(400, 408, 413, 415, 422, 500, 502, 503, 504),
  },
};
