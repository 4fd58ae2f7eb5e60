// The assessor with a memory: begins runs whose stages are stored, and resumes those that another process left unfinished.
import { randomUUID } from 'node:crypto';
import type { Assessment } from '../../schemas/responses/assessment.ts';
import { parseJson, ValidationError } from '../../schemas/validation/model.ts';
import { StoredRun } from '../../schemas/pipeline/stored-run.ts';
import type { AssessmentInput, Assessor, Call, Thread } from '../assessments/run.ts';
import { ERROR_KINDS, IqaError, isAbort } from '../errors.ts';
import type { PipelineGraph } from '../pipeline/graph.ts';
import type { PipelineState } from '../pipeline/state.ts';
import type { Checkpoints } from './checkpoints.ts';
import { holdLease, isDead } from './lease.ts';
import { describePicture } from './images.ts';
import type { RunRow } from './run-table.ts';
import { storeFailed } from './best-effort-saver.ts';

export interface DurableParts {
  assess: Assessor;
  graph: PipelineGraph;
  checkpoints: Checkpoints;
  /** All that a stored stage depends on beside the request: a run is not continued under other rules. */
  fingerprint: (backend: string | undefined) => string;
}

export type ResumeAssessment = (id: string, call: Omit<Call, 'id'>) => Promise<Assessment>;

export function createDurableAssessor(parts: DurableParts): { assess: Assessor; resumeAssessment: ResumeAssessment } {
  return {
    assess: (input, call) => beginAssessment(input, call, parts),
    resumeAssessment: (id, call) => resumeAssessment(id, call, parts),
  };
}

async function beginAssessment(input: AssessmentInput, call: Call, parts: DurableParts): Promise<Assessment> {
  const { table, pictures, owner } = parts.checkpoints;
  const { id } = call;
  const folder = randomUUID();
  const fingerprint = parts.fingerprint(input.backend);
  const bytes = input.image.bytes + (input.reference?.bytes ?? 0);
  const request = JSON.stringify(describeRequest(input));
  const isNew = await table.create({ id, owner, folder, fingerprint, bytes, request }).catch((error: unknown) => {
    throw storeFailed(error);
  });
  if (!isNew)
    throw new IqaError(
      'IQA_INPUT_ID_TAKEN',
      `Expected a new id for the assessment but ${id} is taken; POST /assess/${id}/resume continues it`,
    );
  // The row comes first: what a crash leaves behind is then always found by its row.
  const kept = await pictures.keep(folder, input).catch((error: unknown) => {
    throw storeFailed(error);
  });
  return drive({ ...input, ...kept }, call, { earlier: null }, folder, parts);
}

function describeRequest({ image, reference, ...request }: AssessmentInput): StoredRun {
  return {
    request: { ...request, regions: [...request.regions] },
    image: describePicture(image),
    reference: reference && describePicture(reference),
  };
}

/** Goes on with an unfinished run under its id; stages that are stored are not run again. A finished one is answered from the store. */
export async function resumeAssessment(id: string, call: Omit<Call, 'id'>, parts: DurableParts): Promise<Assessment> {
  const { table, pictures, saver, owner } = parts.checkpoints;
  const found = await takeOver(id, parts).catch((error: unknown) => {
    throw error instanceof IqaError ? error : storeFailed(error);
  });
  if (found.result !== null) return JSON.parse(found.result) as Assessment;
  const stored = readRequest(found);
  const kept = stored && (await pictures.restore(found.folder, stored));
  if (!stored || !kept) {
    await parts.checkpoints.forget(id, found.folder);
    throw new IqaError(
      'IQA_INPUT_NOT_FOUND',
      `Assessment ${id} was interrupted before its pictures were kept, or by another version; send it again`,
    );
  }
  const fingerprint = parts.fingerprint(stored.request.backend);
  const state = found.fingerprint === fingerprint ? await storedState(id, parts.graph) : null;
  if (state === null) {
    // Begun under other rules, or ended without a result: from the beginning, with the same request.
    await saver.deleteThread(id);
    await table.restart(id, owner, fingerprint);
  }
  const earlier = state && { carried: state.carried ?? null, measured: state.executor_evidence !== undefined };
  call.log.info({ assessment_id: id, from_the_start: earlier === null }, 'Assessment resumed');
  return drive(
    { ...stored.request, regions: stored.request.regions ?? [], ...kept },
    { ...call, id },
    { earlier },
    found.folder,
    parts,
  );
}

/** The run as it stands: finished, or ours from now on. */
async function takeOver(id: string, { checkpoints: { table, owner, active } }: DurableParts): Promise<RunRow> {
  const found = await table.find(id);
  if (!found) throw new IqaError('IQA_INPUT_NOT_FOUND', `There is no assessment ${id} that could be resumed`);
  if (found.result !== null) return found;
  const dead = found.owner !== null && isDead(found.owner) ? found.owner : undefined;
  if (!active.has(id) && (await table.claim(id, owner, dead))) return found;
  const now = await table.find(id);
  if (now?.result) return now;
  const seconds = Math.max(1, Math.ceil((now?.leaseLeftMs ?? 0) / 1000));
  throw new IqaError('IQA_INPUT_RUN_ACTIVE', `Assessment ${id} is being worked on`, { retryAfter: seconds });
}

function readRequest({ request }: RunRow): StoredRun | null {
  try {
    return request === null ? null : parseJson(StoredRun, request);
  } catch (error) {
    if (error instanceof ValidationError) return null;
    throw error;
  }
}

/** Null when nothing is stored that a run could go on from. */
async function storedState(id: string, graph: PipelineGraph): Promise<PipelineState | null> {
  const snapshot = await graph.getState({ configurable: { thread_id: id } });
  const state = snapshot.values as Partial<PipelineState>;
  const ended = snapshot.next.length === 0;
  return state.query === undefined || (ended && !state.summarizer_result) ? null : (state as PipelineState);
}

async function drive(
  input: AssessmentInput,
  call: Call,
  thread: Thread,
  folder: string,
  { assess, checkpoints }: DurableParts,
): Promise<Assessment> {
  const { id } = call;
  const lease = holdLease(checkpoints.table, id, checkpoints.owner, checkpoints.leaseMs, call.log);
  checkpoints.active.add(id);
  try {
    const answer = await assess(input, { ...call, signal: AbortSignal.any([call.signal, lease.signal]) }, thread);
    const failure = await checkpoints.settle(id, folder, answer);
    if (failure === undefined) return answer;
    call.log.error({ err: failure, assessment_id: id }, 'The run could not be stored');
    return flagUnstored(answer);
  } catch (error) {
    const reason: unknown = lease.signal.aborted ? lease.signal.reason : error;
    // What may succeed later can be resumed; what never will is forgotten.
    if (isAbort(reason) || !(reason instanceof IqaError) || ERROR_KINDS[reason.code].retryable)
      await checkpoints.release(id, call.log);
    else await checkpoints.forget(id, folder).catch(() => undefined);
    throw reason;
  } finally {
    lease.end();
    checkpoints.active.delete(id);
  }
}

const UNSTORED =
  'The store of checkpoints failed during this run: the answer is complete, but it could not have been resumed and may not be stored.';

function flagUnstored(answer: Assessment): Assessment {
  const { diagnostics, metadata } = answer;
  return {
    ...answer,
    diagnostics: { ...diagnostics, notes: [...diagnostics.notes, UNSTORED] },
    metadata: { ...metadata, degraded: true, degraded_reason: metadata.degraded_reason ?? UNSTORED },
  };
}
