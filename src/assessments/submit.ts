// From an upload to its run: computes the digest, joins an identical run or queues a new one, within a deadline.
import { randomUUID } from 'node:crypto';
import type { Assessment } from '../../schemas/responses/assessment.ts';
import type { ProgressEvent } from '../../schemas/responses/progress.ts';
import type { ResumeAssessment } from '../checkpoints/durable-runs.ts';
import { IqaError } from '../errors.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { DecodingLimits } from '../images/prepare-image.ts';
import { raceAbort } from '../lib/abort.ts';
import type { SidecarClient } from '../tools/sidecar/client.ts';
import type { AssessUpload } from '../uploads/assess-form.ts';
import { runWhenAdmitted, type Admission } from './admission.ts';
import type { SelectReasoner } from './context.ts';
import { startDeadline } from './deadline.ts';
import { computeDigest, formatEtag, matchesEtag, type VersionFingerprint } from './digest.ts';
import { prepareInput, type RunAssessment } from './run.ts';
import { createSingleFlight } from './single-flight.ts';

export interface AssessmentsOptions {
  run: RunAssessment;
  /** Null while checkpoints are off. */
  resume: ResumeAssessment | null;
  admission: Admission;
  sidecar: SidecarClient;
  selectReasoner: SelectReasoner;
  fingerprint: VersionFingerprint;
  limits: DecodingLimits;
  requestTimeoutMs: number;
}

export interface SubmitOptions {
  /** Id of the assessment when the client chose it. */
  id?: string | undefined;
  ifNoneMatch?: string | undefined;
}

export interface Submission {
  etag: string;
  events: () => AsyncGenerator<ProgressEvent, void>;
  /** Rejects when the client disconnects, even if the run continues for other clients. */
  result: () => Promise<Assessment>;
}

export interface Assessments {
  submit: (upload: AssessUpload, context: RequestContext, options?: SubmitOptions) => Promise<Submission>;
  /** Continues an interrupted run, or returns the stored result of a finished one. */
  resume: (id: string, context: RequestContext) => Promise<Assessment>;
}

export function createAssessments(options: AssessmentsOptions): Assessments {
  const { run, admission, sidecar, selectReasoner, fingerprint, limits, requestTimeoutMs } = options;
  const runs = createSingleFlight<ProgressEvent, Assessment>();

  return {
    async submit(upload, context, { id, ifNoneMatch } = {}) {
      const reasoner = selectReasoner(upload.body.backend);
      const digest = await computeDigest(upload, fingerprint(reasoner), sidecar);
      const etag = formatEtag(digest);
      if (matchesEtag(ifNoneMatch, etag))
        throw new IqaError('IQA_INPUT_UNCHANGED', 'The ETag in If-None-Match is current: same inputs, same versions', {
          etag,
        });
      // Ids are stored and compared as lower-case text. A run whose id the client chose is never shared.
      const clientId = id?.toLowerCase();
      const key = clientId === undefined ? digest : `${digest} ${clientId}`;
      const shared = runs.joinOrStart(key, context.signal, (report, signal) => {
        const deadline = startDeadline(requestTimeoutMs);
        const own = { ...context, id: clientId ?? randomUUID(), signal, deadline, reasoner, report, resumeFrom: null };
        // The files are kept until the run ends: other clients may wait for it after this one disconnects.
        return upload.session.hold(() =>
          runWhenAdmitted(admission, own, async () => run(await prepareInput(upload, limits), own)),
        );
      });
      if (!shared.isNew) context.log.info({ digest: digest.slice(0, 12) }, 'Joined an identical running request');
      const result = async () => setRequestId(await raceAbort(shared.result, context.signal), context.requestId);
      return { etag, events: shared.events, result };
    },

    async resume(id, context) {
      const { resume } = options;
      if (!resume) throw new IqaError('IQA_INPUT_NOT_FOUND', 'Assessments cannot be resumed: checkpoints are off');
      const deadline = startDeadline(requestTimeoutMs);
      // The run's own back end is unknown until it is loaded: the lane is that of the default one.
      const queued = { ...context, deadline, reasoner: selectReasoner(undefined) };
      const work = () => resume(id.toLowerCase(), { ...context, deadline });
      return raceAbort(runWhenAdmitted(admission, queued, work), context.signal);
    },
  };
}

/** A shared result carries the id of the request that started it. */
function setRequestId(assessment: Assessment, requestId: string): Assessment {
  return { ...assessment, metadata: { ...assessment.metadata, request_id: requestId } };
}
