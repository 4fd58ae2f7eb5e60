// From a received request to its run: identical requests share one, all others wait their turn, and nothing outlives its deadline.
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { AssessRequest } from '../../schemas/requests/assess.ts';
import type { Assessment } from '../../schemas/responses/assessment.ts';
import type { ProgressEvent } from '../../schemas/responses/progress.ts';
import type { Admission, Lane } from './admission.ts';
import type { Assessor } from './run.ts';
import { startDeadline, type Deadline } from './deadline.ts';
import { IqaError } from '../errors.ts';
import { createFlights, type Flight } from './single-flight.ts';
import type { DecodingLimits } from '../images/prepare-image.ts';
import type { Upload } from '../uploads/assess-form.ts';
import { preparePictures } from '../images/prepare-request.ts';
import { checkRegions } from '../images/regions.ts';
import type { SpoolSession } from '../uploads/spool.ts';

export interface ReceivedRequest {
  files: Upload['files'];
  body: AssessRequest;
  /** Of the assessment, when the client has chosen it. */
  id?: string | null;
  session: SpoolSession;
  requestId: string;
  log: Logger;
  /** Aborted when the client hangs up. */
  signal: AbortSignal;
}

export interface ReceptionOptions {
  assess: Assessor;
  admission: Admission;
  requestTimeoutMs: number;
  limits: DecodingLimits;
  /** What an assessment with this back end will spend its time with. */
  laneOf?: (backend: string | undefined) => Lane;
}

export type AssessmentFlight = Flight<ProgressEvent, Assessment>;
/** Begins the assessment with this digest, or joins the one under way. */
export type Reception = (digest: string, request: ReceivedRequest) => AssessmentFlight;

export function createReception({
  assess,
  admission,
  requestTimeoutMs,
  limits,
  laneOf = () => 'measuring',
}: ReceptionOptions): Reception {
  const flights = createFlights<ProgressEvent, Assessment>();
  return (digest, { files, body, id: chosenId = null, session, requestId, log, signal }) => {
    const id = chosenId ?? randomUUID();
    // A run that somebody will ask for by its id is a run of its own.
    const flight = flights.join(
      chosenId === null ? digest : `${digest} ${chosenId}`,
      signal,
      async (report, abandoned) => {
        const deadline = startDeadline(requestTimeoutMs);
        const work = async () => {
          const pictures = await preparePictures(files, body.align, session, limits);
          const regions = checkRegions(body.regions ?? [], pictures.image.info);
          return assess({ ...body, ...pictures, regions }, { id, requestId, log, signal: abandoned, deadline, report });
        };
        // Whoever joins needs our files for as long as the run goes on, also when we have hung up.
        return session.hold(() => waitForTurn(admission, work, { deadline, abandoned, lane: laneOf(body.backend) }));
      },
    );
    if (!flight.isNew) log.info({ digest: digest.slice(0, 12) }, 'Joined an identical request that is under way');
    return flight;
  };
}

export interface Patience {
  deadline: Deadline;
  abandoned: AbortSignal;
  lane: Lane;
}

export async function waitForTurn<T>(
  admission: Admission,
  work: () => Promise<T>,
  { deadline, abandoned, lane }: Patience,
): Promise<T> {
  const progress = { begun: false };
  const turn = async () => {
    progress.begun = true;
    return work();
  };
  try {
    return await admission.run(turn, AbortSignal.any([abandoned, deadline.signal]), lane);
  } catch (error) {
    if (progress.begun || !deadline.signal.aborted) throw error;
    throw new IqaError('IQA_BUSY', `The request waited ${deadline.limitMs} ms for its turn; try again in a moment`, {
      cause: error,
      retryAfter: 5,
    });
  }
}
