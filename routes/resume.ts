// POST /assess/{id}/resume: continues an interrupted assessment, or returns the stored result of a finished one.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { AssessmentId } from '../schemas/requests/assess.ts';
import { Assessment } from '../schemas/responses/assessment.ts';
import type { Admission } from '../src/assessments/admission.ts';
import type { Assessments } from '../src/assessments/submit.ts';
import { createRequestContext } from '../src/http/request-context.ts';
import { jsonResponse, problemResponses } from './openapi/responses.ts';

interface ResumeRouteOptions {
  assessments: Assessments;
  admission: Admission;
}

const schema = {
  tags: ['assessment'],
  summary: 'Resume an interrupted assessment',
  description:
    'Continues an assessment after its last finished stage, when its process died, its client disconnected or its tools were unavailable. ' +
    'The result of a finished assessment comes from the store. Requires checkpoints, which are off by default.',
  params: Type.Object({
    id: AssessmentId('Id of the assessment: from your X-Assessment-Id header or from the event "accepted".'),
  }),
  response: {
    200: jsonResponse('The assessment, as POST /assess returns it.', Assessment),
    ...problemResponses(404, 409, 422, 500, 502, 503, 504),
  },
};

export const resumeRoutes: FastifyPluginAsyncTypebox<ResumeRouteOptions> = async (app, { assessments, admission }) => {
  app.addHook('onRequest', async (_request, reply) => {
    reply.raw.once('close', admission.acquire());
  });

  app.post('/assess/:id/resume', { schema }, (request, reply) =>
    assessments.resume(request.params.id, createRequestContext(request, reply)),
  );
};
