// POST /assess: the door. Receives the upload, prepares the pictures, hands over to the assessor.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import Type from 'typebox';
import { AssessmentId, AssessRequest } from '../schemas/assess-request.ts';
import { Assessment } from '../schemas/assessment.ts';
import type { Assessor } from '../src/assessor.ts';
import { prepareImage, resizeTo, type PreparedImage } from '../src/images/decoding.ts';
import { receiveUpload, type Upload } from '../src/images/intake.ts';
import { checkRegions } from '../src/images/regions.ts';
import type { Spool, SpoolSession } from '../src/images/spool.ts';
import { IqaError } from '../src/errors.ts';
import { problems } from './problems.ts';

export interface AssessRouteOptions {
  assess: Assessor;
  spool: Spool;
  limits: { maxUploadBytes: number; maxPixels: number };
}

interface Received {
  session: SpoolSession;
  files: Upload['files'];
}

export const assessRoutes: FastifyPluginAsyncTypebox<AssessRouteOptions> = async (app, { assess, spool, limits }) => {
  const received = new WeakMap<FastifyRequest, Received>();

  app.route({
    method: 'POST',
    url: '/assess',
    bodyLimit: 2 * limits.maxUploadBytes + 1_000_000,
    schema: {
      tags: ['assessment'],
      summary: 'Assess the quality of an image',
      description: 'Answers a question about an image: plans, measures with IQA tools, explains. With a reference the full-reference tools are used.',
      consumes: ['multipart/form-data'],
      headers: Type.Object({ 'x-assessment-id': Type.Optional(AssessmentId) }),
      body: AssessRequest,
      response: { 200: Assessment, ...problems(400, 409, 413, 415, 422, 500, 502, 503, 504) },
    },
    // Before validation: the schema then checks exactly the form that is published.
    preValidation: async (request, reply) => {
      const session = spool.open();
      // Answered or hung up, the files go.
      reply.raw.once('close', () => void session.close());
      const { files, body } = await receiveUpload(request, session, limits.maxUploadBytes);
      received.set(request, { session, files });
      request.body = body as AssessRequest;
    },
    handler: async (request, reply) => {
      const { body } = request;
      const signal = hangUpSignal(reply);
      const id = request.headers['x-assessment-id']?.toLowerCase() ?? randomUUID();
      // Errors carry it too: what failed for the moment can be resumed under it.
      void reply.header('x-assessment-id', id);
      const { image, reference } = await prepare(request, body);
      const regions = checkRegions(body.regions ?? [], image.info);
      return assess({ ...body, image, reference, regions }, { requestId: request.id, id, log: request.log as Logger, signal });
    },
  });

  async function prepare(request: FastifyRequest, { align = 'none' }: AssessRequest): Promise<{ image: PreparedImage; reference: PreparedImage | null }> {
    const upload = received.get(request);
    const file = upload?.files.get('image');
    if (!upload || !file) throw new TypeError('Expected the intake to have received an image');
    const referenceFile = upload.files.get('reference');
    const [image, reference] = await Promise.all([
      prepareImage(file, 'image', upload.session, limits),
      referenceFile ? prepareImage(referenceFile, 'reference', upload.session, limits) : null,
    ]);
    if (!reference || (reference.info.width === image.info.width && reference.info.height === image.info.height)) return { image, reference };
    if (align === 'resize') return { image, reference: await resizeTo(reference, image.info, upload.session) };
    const sizeOf = ({ info }: PreparedImage) => `${info.width} × ${info.height}`;
    throw new IqaError('IQA_INPUT_SIZE_MISMATCH', `Expected a reference of ${sizeOf(image)} pixels, the size of the image, but received ${sizeOf(reference)}; align=resize resizes it`);
  }
};

/** Fires when the client goes away before it has its answer. */
export function hangUpSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.on('close', () => {
    if (!reply.raw.writableEnded) controller.abort(new DOMException('The client hung up', 'AbortError'));
  });
  return controller.signal;
}
