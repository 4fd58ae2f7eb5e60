// The entrance that all routes with pictures share: a seat in the house, a place in the spool, a watch on the upload, the form read before the schema sees it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Admission } from '../assessments/admission.ts';
import { IqaError } from '../errors.ts';
import { refuseDepth } from './multipart.ts';
import type { Spool, SpoolSession } from './spool.ts';
import { watchUpload } from './idle-timeout.ts';
import { sendProblem } from '../http/error-handler.ts';

export interface DoorOptions {
  admission: Admission;
  spool: Spool;
  limits: { maxUploadBytes: number };
  uploadIdleMs: number;
}

interface Received<Files> {
  session: SpoolSession;
  /** Of a form; null for JSON, whose files are stored once the schema has seen it. */
  files: Files | null;
  stopWatching: () => void;
}

/** How files reach the spool: from a form before the schema checks its fields, from JSON afterwards. */
export interface Intake<Files, Json, Body> {
  form: (
    request: FastifyRequest,
    session: SpoolSession,
    maxBytes: number,
  ) => Promise<{ files: Files; body: Record<string, unknown> }>;
  json: (body: Json, session: SpoolSession, maxBytes: number) => Promise<{ files: Files; body: Body }>;
}

export interface Door<Files, Body> {
  bodyLimit: number;
  onRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  preValidation: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** What has come in with the request, which is complete now. */
  receivedBy: (request: FastifyRequest) => Promise<{ session: SpoolSession; files: Files; body: Body }>;
}

/** `seats`: how many places the request will work in at once. */
export function buildDoor<Files, Json, Body>(
  app: FastifyInstance,
  { admission, spool, limits: { maxUploadBytes }, uploadIdleMs }: DoorOptions,
  intake: Intake<Files, Json, Body>,
  seats = 1,
): Door<Files, Body> {
  // Two files as large as they may be, and the rest; base64 is a third longer than what it carries.
  const bodyLimit = Math.ceil(((2 * maxUploadBytes + 1_000_000) * 4) / 3);
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit },
    app.getDefaultJsonParser('error', 'error'),
  );
  const inside = new WeakMap<FastifyRequest, Received<Files>>();
  const find = (request: FastifyRequest): Received<Files> => {
    const received = inside.get(request);
    if (!received) throw new TypeError('Expected the request to have been let in');
    return received;
  };
  return {
    bodyLimit,
    // Before the body is read: what is refused for want of room never reaches the disk.
    async onRequest(request, reply) {
      const leave = admission.enter(seats);
      const session = spool.open();
      const stopWatching = watchUpload(request, uploadIdleMs, () => {
        cutUpload(request, reply, uploadIdleMs);
      });
      inside.set(request, { session, files: null, stopWatching });
      // Answered or hung up, the seat is free and the files go.
      reply.raw.once('close', () => {
        stopWatching();
        leave();
        void session.close();
      });
    },
    // Before validation: the schema then checks exactly the form that is published.
    async preValidation(request, reply) {
      if (!request.isMultipart()) {
        if (request.body === undefined)
          throw new IqaError(
            'IQA_INPUT_MEDIA_TYPE',
            'Expected a body of multipart/form-data or application/json but received none',
          );
        refuseDepth(request.body, 'the body');
        return;
      }
      const received = find(request);
      try {
        const { files, body } = await intake.form(request, received.session, maxUploadBytes);
        received.files = files;
        request.body = body;
      } catch (error) {
        if (!reply.sent) throw error;
      }
    },
    async receivedBy(request) {
      const { session, files, stopWatching } = find(request);
      stopWatching();
      const upload = files
        ? { files, body: request.body as Body }
        : await intake.json(request.body as Json, session, maxUploadBytes);
      return { session, ...upload };
    },
  };
}

function cutUpload(request: FastifyRequest, reply: FastifyReply, idleMs: number): void {
  if (reply.sent) return;
  void reply.header('connection', 'close');
  sendProblem(
    new IqaError(
      'IQA_INPUT_TIMEOUT',
      `Expected the request to keep coming but received nothing for ${idleMs / 1000} s`,
    ),
    request,
    reply,
  );
}
