// What POST /assess takes and gives, as its OpenAPI description: both bodies, both kinds of answer, every header and status.
import Type, { type TSchema } from 'typebox';
import { AssessJsonRequest, AssessmentId, AssessRequest } from '../../schemas/requests/assess.ts';
import { Assessment } from '../../schemas/responses/assessment.ts';
import { Problem } from '../../schemas/responses/problem.ts';
import { AcceptedEvent, StageEvent, STREAM_EVENTS, ToolProgressEvent } from '../../schemas/responses/progress.ts';
import { OWN_REQUEST_ID, problems, REQUEST_ID_HEADER } from './responses.ts';

const EVENT_DATA = {
  accepted: AcceptedEvent,
  stage: StageEvent,
  tool: ToolProgressEvent,
  result: Assessment,
  error: Problem,
} as const satisfies Record<keyof typeof STREAM_EVENTS, TSchema>;

/** One event, as OpenAPI writes streams: fields are text, and the text of `data` is JSON of its own schema. */
const StreamEvent = Type.Union(
  Object.entries(EVENT_DATA).map(([name, data]) =>
    Type.Object({
      event: Type.Literal(name, { description: 'Name of the event.' }),
      data: Type.String({
        contentMediaType: 'application/json',
        contentSchema: data,
        description: `JSON: ${STREAM_EVENTS[name as keyof typeof STREAM_EVENTS]}.`,
      }),
    }),
  ),
  {
    description:
      'Server-sent events, for requests that accept text/event-stream; this is the schema of each. The last one is `result`, whose data is ' +
      'the assessment, or `error`, whose data is a problem. What is refused before the run begins is an ordinary problem.',
  },
);

export const assessSchema = {
  tags: ['assessment'],
  summary: 'Assess the quality of an image',
  description:
    'Answers a question about an image: plans, measures with IQA tools, explains. With a reference the full-reference tools are used. ' +
    'Identical requests at the same time are computed once. Send a form, or JSON with the files as base64; accept JSON, or text/event-stream for progress.',
  headers: Type.Object({
    'if-none-match': Type.Optional(
      Type.String({
        description:
          'ETag of an answer that you have: if this request would have the same one, it is answered 412 and nothing is computed.',
      }),
    ),
    'x-assessment-id': Type.Optional(
      AssessmentId(
        'Your own id of this assessment, a UUID that nobody can guess; where checkpoints are on, an interrupted run is resumed under it.',
      ),
    ),
    ...OWN_REQUEST_ID,
  }),
  body: {
    content: { 'multipart/form-data': { schema: AssessRequest }, 'application/json': { schema: AssessJsonRequest } },
  },
  response: {
    200: {
      description: 'The answer.',
      headers: {
        ...REQUEST_ID_HEADER,
        etag: {
          type: 'string',
          description:
            'Weak validator: the same inputs and versions have the same one. Absent when the answer is degraded, and for streams.',
        },
      },
      content: { 'application/json': { schema: Assessment }, 'text/event-stream': { schema: StreamEvent } },
    },
    ...problems(400, 408, 409, 412, 413, 415, 422, 500, 502, 503, 504),
  },
};
