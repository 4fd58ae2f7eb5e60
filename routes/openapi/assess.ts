// The OpenAPI description of POST /assess.
import Type, { type TSchema } from 'typebox';
import { AssessJsonRequest, AssessmentId, AssessRequest } from '../../schemas/requests/assess.ts';
import { Assessment } from '../../schemas/responses/assessment.ts';
import { Problem } from '../../schemas/responses/problem.ts';
import { AcceptedEvent, StageEvent, STREAM_EVENTS, ToolProgressEvent } from '../../schemas/responses/progress.ts';
import { problemResponses, REQUEST_ID_HEADER, REQUEST_ID_PARAM } from './responses.ts';

const EVENT_DATA = {
  accepted: AcceptedEvent,
  stage: StageEvent,
  tool: ToolProgressEvent,
  result: Assessment,
  error: Problem,
} as const satisfies Record<keyof typeof STREAM_EVENTS, TSchema>;

/** One event as OpenAPI describes streams: the fields are strings, and `data` is a string of JSON with its own schema. */
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
      'One server-sent event, for requests that accept text/event-stream. The last event is `result` with the assessment, or `error` with a problem. ' +
      'A request refused before its run starts gets an ordinary problem response.',
  },
);

export const assessSchema = {
  tags: ['assessment'],
  summary: 'Assess the quality of an image',
  description:
    'Answers a question about an image: plans, measures with IQA tools, explains. With a reference the full-reference tools are used. ' +
    'Identical concurrent requests are computed once. Send a form, or JSON with base64 files; accept JSON, or text/event-stream for progress.',
  headers: Type.Object({
    'if-none-match': Type.Optional(
      Type.String({
        description: 'ETag of an earlier response: if it is still current, the status is 412 and nothing is computed.',
      }),
    ),
    'x-assessment-id': Type.Optional(
      AssessmentId(
        'Your own id for this assessment, a random UUID. With checkpoints, an interrupted run can be resumed by it.',
      ),
    ),
    ...REQUEST_ID_PARAM,
  }),
  body: {
    content: { 'multipart/form-data': { schema: AssessRequest }, 'application/json': { schema: AssessJsonRequest } },
  },
  response: {
    200: {
      description: 'The assessment.',
      headers: {
        ...REQUEST_ID_HEADER,
        etag: {
          type: 'string',
          description:
            'Weak validator, equal for equal inputs and versions. Absent for degraded assessments and for streams.',
        },
      },
      content: { 'application/json': { schema: Assessment }, 'text/event-stream': { schema: StreamEvent } },
    },
    ...problemResponses(400, 408, 409, 412, 413, 415, 422, 500, 502, 503, 504),
  },
};
