// Responses of the OpenAPI descriptions: a text and headers for each status, one schema for all problems.
import Type, { type TSchema } from 'typebox';
import { Problem } from '../../schemas/responses/problem.ts';

const STATUS_TEXT = {
  400: 'Malformed request.',
  404: 'Not found.',
  408: 'The request body arrived too slowly.',
  409: 'The assessment id already exists, or the assessment is still running; Retry-After then says when to try again.',
  412: 'The ETag in If-None-Match is current.',
  413: 'Too many bytes, pixels, files or fields.',
  415: 'Unsupported content type or image format.',
  422: 'Validation failed, or the file is not a readable image.',
  500: 'Internal server error.',
  502: 'The reasoner or the tools failed.',
  503: 'Busy, shutting down, or tools or checkpoint store unavailable; Retry-After says when to try again.',
  504: 'Timeout.',
} as const;
type Status = keyof typeof STATUS_TEXT;

export const REQUEST_ID_PARAM = {
  'x-request-id': Type.Optional(
    Type.String({
      description: 'Your own id for this request, 1 to 128 of A–Z a–z 0–9 _ . : -; any other value is replaced.',
    }),
  ),
};

export const REQUEST_ID_HEADER = {
  'x-request-id': {
    type: 'string',
    description: 'Id of this request, as in the logs: your own if you sent a valid one.',
  },
} as const;

const STATUS_HEADERS: Partial<Record<Status, Record<string, { type: string; description: string }>>> = {
  409: { 'retry-after': { type: 'integer', description: 'Seconds to wait before a retry, if one makes sense.' } },
  412: { etag: { type: 'string', description: 'The current ETag.' } },
  503: { 'retry-after': { type: 'integer', description: 'Seconds to wait before a retry.' } },
};

export function jsonResponse<S extends TSchema, M extends string = 'application/json'>(
  description: string,
  schema: S,
  media = 'application/json' as M,
) {
  return { description, headers: REQUEST_ID_HEADER, content: { [media]: { schema } } as Record<M, { schema: S }> };
}

export function problemResponses<S extends Status>(...statuses: S[]) {
  const entries = statuses.map(
    (status) =>
      [
        status,
        {
          description: STATUS_TEXT[status],
          headers: { ...REQUEST_ID_HEADER, ...STATUS_HEADERS[status] },
          content: { 'application/problem+json': { schema: Problem } },
        },
      ] as const,
  );
  return Object.fromEntries(entries) as Record<S, (typeof entries)[number][1]>;
}
