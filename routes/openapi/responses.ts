// The answers of a route for its OpenAPI description: a sentence and the headers per status, one schema for all problems, the id that joins them to a request.
import Type, { type TSchema } from 'typebox';
import { Problem } from '../../schemas/responses/problem.ts';

const MEANINGS = {
  400: 'The request cannot be read.',
  404: 'There is nothing of that name.',
  408: 'The request came too slowly.',
  409: 'The id is taken, or the assessment is being worked on; Retry-After then says when to try again.',
  412: 'The answer is the one whose ETag you sent in If-None-Match.',
  413: 'Too many bytes, pixels, files or fields.',
  415: 'A content type or image format that is not accepted.',
  422: 'The input does not fit, or the file is no readable picture.',
  500: 'Our fault.',
  502: 'The reasoner or the tools failed.',
  503: 'Busy, stopping, or the tools or the store of checkpoints are not available; Retry-After says when to try again.',
  504: 'It took too long.',
} as const;
type Status = keyof typeof MEANINGS;

/** Of a request that may name itself. */
export const OWN_REQUEST_ID = {
  'x-request-id': Type.Optional(
    Type.String({
      description:
        'Your own id of this request, 1 to 128 of A–Z a–z 0–9 _ . : -; anything else is replaced by a new one.',
    }),
  ),
};

/** Every answer of every route has it. */
export const REQUEST_ID_HEADER = {
  'x-request-id': {
    type: 'string',
    description: 'Id of this request, as in the logs: yours when you sent an acceptable one.',
  },
} as const;

const FURTHER_HEADERS: Partial<Record<Status, Record<string, { type: string; description: string }>>> = {
  409: { 'retry-after': { type: 'integer', description: 'Seconds after which to try again, when that makes sense.' } },
  412: { etag: { type: 'string', description: 'Of the answer that you have.' } },
  503: { 'retry-after': { type: 'integer', description: 'Seconds after which to try again.' } },
};

/** A good answer: what it is, and its body. */
export function answer<S extends TSchema, M extends string = 'application/json'>(
  description: string,
  schema: S,
  media = 'application/json' as M,
) {
  return { description, headers: REQUEST_ID_HEADER, content: { [media]: { schema } } as Record<M, { schema: S }> };
}

export function problems<S extends Status>(...statuses: S[]) {
  const entries = statuses.map(
    (status) =>
      [
        status,
        {
          description: MEANINGS[status],
          headers: { ...REQUEST_ID_HEADER, ...FURTHER_HEADERS[status] },
          content: { 'application/problem+json': { schema: Problem } },
        },
      ] as const,
  );
  return Object.fromEntries(entries) as Record<S, (typeof entries)[number][1]>;
}
