// POST /assess: takes a form or JSON, responds with JSON or a stream of events.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { Assessments } from '../src/assessments/submit.ts';
import { createRequestContext } from '../src/http/request-context.ts';
import { EVENT_STREAM, sendEvents } from '../src/http/sse.ts';
import { assessReader, type AssessUpload } from '../src/uploads/assess-form.ts';
import { getUpload, uploadPlugin, type UploadSettings } from '../src/uploads/plugin.ts';
import { assessSchema } from './openapi/assess.ts';

interface AssessRouteOptions {
  uploads: UploadSettings;
  assessments: Assessments;
}

export const assessRoutes: FastifyPluginAsyncTypebox<AssessRouteOptions> = async (app, { uploads, assessments }) => {
  await app.register(uploadPlugin, { ...uploads, reader: assessReader });

  app.post('/assess', { schema: assessSchema }, async (request, reply) => {
    const { headers } = request;
    const submission = await assessments.submit(
      getUpload<AssessUpload>(request),
      createRequestContext(request, reply),
      { id: headers['x-assessment-id'], ifNoneMatch: headers['if-none-match'] },
    );
    if (headers.accept?.includes(EVENT_STREAM)) return sendEvents(request, reply, submission);
    const assessment = await submission.result();
    // A degraded answer may be better next time, so that clients must not keep it.
    if (!assessment.metadata.degraded) void reply.header('etag', submission.etag);
    return assessment;
  });
};
