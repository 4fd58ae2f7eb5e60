// POST /assess/{id}/resume: goes on with an assessment that its process could not finish, or fetches the answer of one that is finished.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { Logger } from 'pino';
import Type from 'typebox';
import { Assessment } from '../schemas/assessment.ts';
import { AssessmentId } from '../schemas/assess-request.ts';
import type { ResumeAssessment } from '../src/checkpoints/durable-assessor.ts';
import { IqaError } from '../src/errors.ts';
import { hangUpSignal } from './assess.ts';
import { problems } from './problems.ts';

export interface ResumeRouteOptions {
  /** Null while checkpoints are off. */
  resumeAssessment: ResumeAssessment | null;
}

export const resumeRoutes: FastifyPluginAsyncTypebox<ResumeRouteOptions> = async (app, { resumeAssessment }) => {
  app.post('/assess/:id/resume', {
    schema: {
      tags: ['assessment'],
      summary: 'Resume an interrupted assessment',
      description: 'Goes on with an assessment whose process died, whose client hung up or whose tools were not available, where its last finished stage left it. '
        + 'One that is finished is answered with its stored answer. Needs checkpoints, which are off by default.',
      params: Type.Object({ id: AssessmentId }),
      response: { 200: Assessment, ...problems(404, 409, 422, 500, 502, 503, 504) },
    },
  }, async (request, reply) => {
    if (!resumeAssessment) throw new IqaError('IQA_INPUT_NOT_FOUND', 'No assessment can be resumed here: checkpoints are off');
    return resumeAssessment(request.params.id.toLowerCase(), { requestId: request.id, log: request.log as Logger, signal: hangUpSignal(reply) });
  });
};
