// POST /assess/{id}/resume: goes on with an assessment that its process could not finish, or fetches the answer of one that is finished.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { Logger } from 'pino';
import Type from 'typebox';
import { Assessment } from '../schemas/responses/assessment.ts';
import { AssessmentId } from '../schemas/requests/assess.ts';
import type { Admission, Lane } from '../src/assessments/admission.ts';
import type { ResumeAssessment } from '../src/checkpoints/durable-assessor.ts';
import { startDeadline } from '../src/assessments/deadline.ts';
import { IqaError } from '../src/errors.ts';
import { orAborted } from '../src/pipeline/stage.ts';
import { waitForTurn } from '../src/assessments/submit.ts';
import { answer, problems } from './openapi/responses.ts';
import { hangUpSignal } from '../src/http/client-disconnect.ts';

export interface ResumeRouteOptions {
  /** Null while checkpoints are off. */
  resumeAssessment: ResumeAssessment | null;
  admission: Admission;
  /** What a run of this service usually spends its time with: which it is, is known only when it goes on. */
  lane: Lane;
  requestTimeoutMs: number;
}

const schema = {
  tags: ['assessment'],
  summary: 'Resume an interrupted assessment',
  description:
    'Goes on with an assessment whose process died, whose client hung up or whose tools were not available: after its last finished stage. ' +
    'One that is finished is answered from the store. Needs checkpoints, which are off by default.',
  params: Type.Object({
    id: AssessmentId('Id of the assessment: the one you chose in X-Assessment-Id, or that of the event "accepted".'),
  }),
  response: {
    200: answer('The answer, as POST /assess gives it.', Assessment),
    ...problems(404, 409, 422, 500, 502, 503, 504),
  },
};

export const resumeRoutes: FastifyPluginAsyncTypebox<ResumeRouteOptions> = async (
  app,
  { resumeAssessment, admission, lane, requestTimeoutMs },
) => {
  app.post(
    '/assess/:id/resume',
    {
      schema,
      onRequest: async (_request, reply) => {
        const leave = admission.enter();
        reply.raw.once('close', leave);
      },
    },
    async (request, reply) => {
      if (!resumeAssessment)
        throw new IqaError('IQA_INPUT_NOT_FOUND', 'No assessment can be resumed here: checkpoints are off');
      const signal = hangUpSignal(reply);
      const deadline = startDeadline(requestTimeoutMs);
      const call = { requestId: request.id, log: request.log as Logger, signal, deadline, report: () => undefined };
      return orAborted(
        waitForTurn(admission, () => resumeAssessment(request.params.id.toLowerCase(), call), {
          deadline,
          abandoned: signal,
          lane,
        }),
        signal,
      );
    },
  );
};
