// POST /assess: the door. Receives a form or JSON, answers with JSON or a stream of events; the work is the reception's.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { Logger } from 'pino';
import type { Assessment } from '../schemas/responses/assessment.ts';
import { IqaError } from '../src/errors.ts';
import { etagOf, matchesEtag, type Identify } from '../src/assessments/digest.ts';
import { receiveUpload } from '../src/uploads/assess-form.ts';
import { receiveJson } from '../src/uploads/base64.ts';
import { orAborted } from '../src/pipeline/stage.ts';
import type { Reception } from '../src/assessments/submit.ts';
import { assessSchema } from './openapi/assess.ts';
import { buildDoor, type DoorOptions } from '../src/uploads/upload-hooks.ts';
import { EVENT_STREAM, sendEvents } from '../src/http/sse.ts';
import { hangUpSignal } from '../src/http/client-disconnect.ts';

export interface AssessRouteOptions extends DoorOptions {
  receive: Reception;
  identify: Identify;
}

export const assessRoutes: FastifyPluginAsyncTypebox<AssessRouteOptions> = async (app, options) => {
  const { receive, identify } = options;
  const { receivedBy, ...entrance } = buildDoor(app, options, { form: receiveUpload, json: receiveJson });

  app.route({
    method: 'POST',
    url: '/assess',
    schema: assessSchema,
    ...entrance,
    handler: async (request, reply) => {
      const signal = hangUpSignal(reply);
      const { session, ...upload } = await receivedBy(request);
      const digest = await identify(upload);
      const etag = etagOf(digest);
      if (matchesEtag(request.headers['if-none-match'], etag))
        throw new IqaError('IQA_INPUT_UNCHANGED', 'The answer is the one you have: same inputs, same versions', {
          etag,
        });
      const id = chosenId(request.headers['x-assessment-id']);
      const flight = receive(digest, {
        ...upload,
        id,
        session,
        requestId: request.id,
        log: request.log as Logger,
        signal,
      });
      const finish = (assessment: Assessment) => withRequestId(assessment, request.id);
      if (request.headers.accept?.includes(EVENT_STREAM)) return sendEvents(request, reply, flight, finish);
      const assessment = finish(await orAborted(flight.result, signal));
      // What a fallback answered may be answered better next time.
      if (!assessment.metadata.degraded) void reply.header('etag', etag);
      return assessment;
    },
  });
};

/** Who joined somebody else's run still finds its own request in the logs. */
function withRequestId(assessment: Assessment, requestId: string): Assessment {
  return { ...assessment, metadata: { ...assessment.metadata, request_id: requestId } };
}

/** Ids are compared as text, so that both cases of a digit must be one. */
const chosenId = (header: string | string[] | undefined): string | null =>
  typeof header === 'string' ? header.toLowerCase() : null;
