// POST /assess: the door. Receives a form or JSON, answers with JSON or a stream of events; the work is the reception's.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { AssessJsonRequest, AssessRequest } from '../schemas/assess-request.ts';
import type { Assessment } from '../schemas/assessment.ts';
import type { Admission } from '../src/admission.ts';
import { IqaError } from '../src/errors.ts';
import { etagOf, matchesEtag, type Identify } from '../src/identity.ts';
import { receiveUpload, refuseDepth, type Upload } from '../src/images/intake.ts';
import { receiveJson } from '../src/images/json-intake.ts';
import type { Spool, SpoolSession } from '../src/images/spool.ts';
import { watchUpload } from '../src/images/upload-watch.ts';
import { orAborted } from '../src/pipeline/stage.ts';
import { sendProblem } from '../src/problems.ts';
import type { Reception } from '../src/reception.ts';
import { assessSchema } from './assess-schema.ts';
import { EVENT_STREAM, sendEvents } from './event-stream.ts';
import { hangUpSignal } from './hang-up.ts';

export interface AssessRouteOptions {
  receive: Reception;
  identify: Identify;
  admission: Admission;
  spool: Spool;
  limits: { maxUploadBytes: number };
  uploadIdleMs: number;
}

interface Received {
  session: SpoolSession;
  files: Upload['files'];
  stopWatching: () => void;
}

export const assessRoutes: FastifyPluginAsyncTypebox<AssessRouteOptions> = async (app, options) => {
  const { receive, identify, admission, spool, limits } = options;
  const inside = new WeakMap<FastifyRequest, Received>();
  const receivedBy = (request: FastifyRequest): Received => {
    const received = inside.get(request);
    if (!received) throw new TypeError('Expected the request to have been let in');
    return received;
  };
  // Base64 is a third longer than what it carries.
  const bodyLimit = Math.ceil((2 * limits.maxUploadBytes + 1_000_000) * 4 / 3);
  app.addContentTypeParser('application/json', { parseAs: 'string', bodyLimit }, app.getDefaultJsonParser('error', 'error'));

  app.route({
    method: 'POST',
    url: '/assess',
    bodyLimit,
    schema: assessSchema,
    // Before the body is read: what is refused for want of room never reaches the disk.
    onRequest: async (request, reply) => {
      const leave = admission.enter();
      const session = spool.open();
      const stopWatching = watchUpload(request, options.uploadIdleMs, () => { cutUpload(request, reply, options.uploadIdleMs); });
      inside.set(request, { session, files: new Map(), stopWatching });
      // Answered or hung up, the seat is free and the files go.
      reply.raw.once('close', () => {
        stopWatching();
        leave();
        void session.close();
      });
    },
    // Before validation: the schema then checks exactly the form that is published.
    preValidation: async (request, reply) => {
      if (!request.isMultipart()) {
        if (request.body === undefined) throw new IqaError('IQA_INPUT_MEDIA_TYPE', 'Expected a body of multipart/form-data or application/json but received none');
        refuseDepth(request.body, 'the body');
        return;
      }
      const received = receivedBy(request);
      try {
        const { files, body } = await receiveUpload(request, received.session, limits.maxUploadBytes);
        received.files = files;
        request.body = body;
      } catch (error) {
        if (!reply.sent) throw error;
      }
    },
    handler: async (request, reply) => {
      const signal = hangUpSignal(reply);
      const received = receivedBy(request);
      received.stopWatching();
      const { session } = received;
      const upload = request.isMultipart()
        ? { files: received.files, body: request.body as AssessRequest }
        : await receiveJson(request.body as AssessJsonRequest, session, limits.maxUploadBytes);
      const digest = await identify(upload);
      const etag = etagOf(digest);
      if (matchesEtag(request.headers['if-none-match'], etag)) throw new IqaError('IQA_INPUT_UNCHANGED', 'The answer is the one you have: same inputs, same versions', { etag });
      const id = chosenId(request.headers['x-assessment-id']);
      const flight = receive(digest, { ...upload, id, session, requestId: request.id, log: request.log as Logger, signal });
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

function cutUpload(request: FastifyRequest, reply: FastifyReply, idleMs: number): void {
  if (reply.sent) return;
  void reply.header('connection', 'close');
  sendProblem(new IqaError('IQA_INPUT_TIMEOUT', `Expected the request to keep coming but received nothing for ${idleMs / 1000} s`), request, reply);
}

/** Ids are compared as text, so that both cases of a digit must be one. */
const chosenId = (header: string | string[] | undefined): string | null => (typeof header === 'string' ? header.toLowerCase() : null);
