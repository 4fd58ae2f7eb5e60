// Fastify plugin for routes that receive images: takes slots before the body is read, spools the files and parses the form.
import type { FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Admission } from '../assessments/admission.ts';
import { IqaError } from '../errors.ts';
import { sendProblem } from '../http/error-handler.ts';
import { watchIdleUpload } from './idle-timeout.ts';
import { assertMaxDepth } from './form-fields.ts';
import type { Spool, SpoolSession } from './spool.ts';

export interface Upload<Files, Body> {
  session: SpoolSession;
  files: Files;
  /** The validated fields; a file is represented by its id in the spool. */
  body: Body;
}

/** Moves the files of a request to the spool: those of a form before the schema check, those of JSON after it. */
export interface UploadReader<Files, Json, Body> {
  readForm: (
    request: FastifyRequest,
    session: SpoolSession,
    maxBytes: number,
  ) => Promise<{ files: Files; body: Record<string, unknown> }>;
  readJson: (body: Json, session: SpoolSession, maxBytes: number) => Promise<{ files: Files; body: Body }>;
}

export interface UploadSettings {
  admission: Admission;
  spool: Spool;
  /** Of one file. */
  maxUploadBytes: number;
  uploadIdleMs: number;
}

interface UploadOptions extends UploadSettings {
  reader: UploadReader<unknown, never, unknown>;
  /** Assessments that the request runs at once. */
  slots?: number;
}

interface PendingUpload extends Upload<unknown, unknown> {
  stopIdleWatch: () => void;
}

const DECORATOR = 'upload';

/** The upload of a request whose hooks have run; the caller names the types of its reader. */
export const getUpload = <U extends Upload<unknown, unknown>>(request: FastifyRequest): U =>
  request.getDecorator<U>(DECORATOR);

/** In bytes: two files of the largest size and 1 MB of fields; base64 adds a third. gateway/start.sh has the same formula. */
export const computeBodyLimit = (maxUploadBytes: number): number =>
  Math.ceil(((2 * maxUploadBytes + 1_000_000) * 4) / 3);

export const uploadPlugin = fastifyPlugin<UploadOptions>(
  async (app, { admission, spool, maxUploadBytes, uploadIdleMs, reader, slots = 1 }) => {
    app.addContentTypeParser(
      'application/json',
      { parseAs: 'string', bodyLimit: computeBodyLimit(maxUploadBytes) },
      app.getDefaultJsonParser('error', 'error'),
    );
    app.decorateRequest(DECORATOR);
    const getPending = (request: FastifyRequest) => request.getDecorator<PendingUpload>(DECORATOR);

    // Before the body is read: a refused request writes nothing to the disk.
    app.addHook('onRequest', async (request, reply) => {
      const releaseSlots = admission.acquire(slots);
      const session = spool.open();
      const stopIdleWatch = watchIdleUpload(request, uploadIdleMs, () => {
        abortIdleUpload(request, reply, uploadIdleMs);
      });
      const pending: PendingUpload = { session, files: null, body: null, stopIdleWatch };
      request.setDecorator(DECORATOR, pending);
      reply.raw.once('close', () => {
        stopIdleWatch();
        releaseSlots();
        void session.close();
      });
    });

    // Before validation, so that the published schema checks the fields of the form.
    app.addHook('preValidation', async (request, reply) => {
      if (!request.isMultipart()) {
        if (request.body === undefined)
          throw new IqaError(
            'IQA_INPUT_MEDIA_TYPE',
            'Expected a body of multipart/form-data or application/json but received none',
          );
        assertMaxDepth(request.body, 'the body');
        return;
      }
      const pending = getPending(request);
      try {
        const { files, body } = await reader.readForm(request, pending.session, maxUploadBytes);
        pending.files = files;
        request.body = body;
      } catch (error) {
        // The idle timeout has already responded.
        if (!reply.sent) throw error;
      }
    });

    app.addHook('preHandler', async (request) => {
      const pending = getPending(request);
      pending.stopIdleWatch();
      if (request.isMultipart()) pending.body = request.body;
      else Object.assign(pending, await reader.readJson(request.body as never, pending.session, maxUploadBytes));
    });
  },
  { name: 'uploads' },
);

function abortIdleUpload(request: FastifyRequest, reply: FastifyReply, idleMs: number): void {
  if (reply.sent) return;
  void reply.header('connection', 'close');
  sendProblem(
    new IqaError('IQA_INPUT_TIMEOUT', `Expected more of the request body but received nothing for ${idleMs / 1000} s`),
    request,
    reply,
  );
}
