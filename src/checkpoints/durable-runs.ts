// Runs assessments with stored stages and resumes those that another process left unfinished.
import { randomUUID } from 'node:crypto';
import { StoredRun } from '../../schemas/pipeline/stored-run.ts';
import type { Assessment } from '../../schemas/responses/assessment.ts';
import { parseJson, ValidationError } from '../../schemas/validation/model.ts';
import type { AssessmentContext, SelectReasoner, AssessmentInput } from '../assessments/context.ts';
import type { VersionFingerprint } from '../assessments/digest.ts';
import type { RunAssessment } from '../assessments/run.ts';
import { ERROR_KINDS, IqaError, isAbort } from '../errors.ts';
import type { PipelineGraph } from '../pipeline/graph.ts';
import type { PipelineState } from '../pipeline/state.ts';
import { createStoreError } from './best-effort-saver.ts';
import type { Checkpoints } from './checkpoints.ts';
import { describeImage } from './images.ts';
import { holdLease, isOwnerDead } from './lease.ts';
import type { RunRow } from './run-table.ts';

interface DurableOptions {
  run: RunAssessment;
  graph: PipelineGraph;
  checkpoints: Checkpoints;
  /** A run is not continued under another fingerprint. */
  fingerprint: VersionFingerprint;
  selectReasoner: SelectReasoner;
}

type ResumeContext = Pick<AssessmentContext, 'requestId' | 'log' | 'signal' | 'deadline'>;
export type ResumeAssessment = (id: string, context: ResumeContext) => Promise<Assessment>;

export function createDurableRuns(options: DurableOptions): { run: RunAssessment; resume: ResumeAssessment } {
  return {
    run: (input, context) => startRun(input, context, options),
    resume: (id, context) => resumeRun(id, context, options),
  };
}

async function startRun(
  input: AssessmentInput,
  context: AssessmentContext,
  options: DurableOptions,
): Promise<Assessment> {
  const { table, images, owner } = options.checkpoints;
  const { id } = context;
  const folder = randomUUID();
  const fingerprint = options.fingerprint(context.reasoner);
  const bytes = input.image.bytes + (input.reference?.bytes ?? 0);
  const request = JSON.stringify(describeRequest(input));
  const isNew = await table.create({ id, owner, folder, fingerprint, bytes, request }).catch((error: unknown) => {
    throw createStoreError(error);
  });
  if (!isNew)
    throw new IqaError(
      'IQA_INPUT_ID_TAKEN',
      `Expected a new assessment id but ${id} already exists; POST /assess/${id}/resume continues it`,
    );
  // The row first: it leads to everything that a crash leaves behind.
  const kept = await images.keep(folder, input).catch((error: unknown) => {
    throw createStoreError(error);
  });
  return runWithLease({ ...input, ...kept }, context, folder, options);
}

function describeRequest({ image, reference, ...request }: AssessmentInput): StoredRun {
  return {
    request: { ...request, regions: [...request.regions] },
    image: describeImage(image),
    reference: reference && describeImage(reference),
  };
}

/** Continues an unfinished run after its last stored stage. The result of a finished one comes from the store. */
async function resumeRun(id: string, context: ResumeContext, options: DurableOptions): Promise<Assessment> {
  const { checkpoints } = options;
  const { table, images, saver, owner } = checkpoints;
  const row = await claimRun(id, checkpoints).catch((error: unknown) => {
    throw error instanceof IqaError ? error : createStoreError(error);
  });
  if (row.result !== null) return JSON.parse(row.result) as Assessment;
  const stored = parseRequest(row);
  const restored = stored && (await images.restore(row.folder, stored));
  if (!stored || !restored) {
    await checkpoints.remove(id, row.folder);
    throw new IqaError(
      'IQA_INPUT_NOT_FOUND',
      `Assessment ${id} was interrupted before its images were stored, or by another version; send it again`,
    );
  }
  const reasoner = options.selectReasoner(stored.request.backend);
  const fingerprint = options.fingerprint(reasoner);
  const state = row.fingerprint === fingerprint ? await loadState(id, options.graph) : null;
  if (state === null) {
    // Other versions, or no result at its end: the run starts again with the same request.
    await saver.deleteThread(id);
    await table.restart(id, owner, fingerprint);
  }
  const resumeFrom = state && { usage: state.usage_totals ?? null };
  context.log.info({ assessment_id: id, from_the_start: resumeFrom === null }, 'Assessment resumed');
  return runWithLease(
    { ...stored.request, regions: stored.request.regions ?? [], ...restored },
    { ...context, id, reasoner, report: () => undefined, resumeFrom },
    row.folder,
    options,
  );
}

/** The row of a finished run, or of an unfinished one that this process now owns. */
async function claimRun(id: string, { table, owner, active }: Checkpoints): Promise<RunRow> {
  const found = await table.find(id);
  if (!found) throw new IqaError('IQA_INPUT_NOT_FOUND', `No assessment ${id} to resume`);
  if (found.result !== null) return found;
  const deadOwner = found.owner !== null && isOwnerDead(found.owner) ? found.owner : undefined;
  if (!active.has(id) && (await table.claim(id, owner, deadOwner))) return found;
  const current = await table.find(id);
  if (current?.result) return current;
  const retryAfter = Math.max(1, Math.ceil((current?.leaseLeftMs ?? 0) / 1000));
  throw new IqaError('IQA_INPUT_RUN_ACTIVE', `Assessment ${id} is still running`, { retryAfter });
}

function parseRequest({ request }: RunRow): StoredRun | null {
  try {
    return request === null ? null : parseJson(StoredRun, request);
  } catch (error) {
    if (error instanceof ValidationError) return null;
    throw error;
  }
}

/** Null if no stored state can be continued. */
async function loadState(id: string, graph: PipelineGraph): Promise<PipelineState | null> {
  const snapshot = await graph.getState({ configurable: { thread_id: id } });
  const state = snapshot.values as Partial<PipelineState>;
  const hasEnded = snapshot.next.length === 0;
  return state.query === undefined || (hasEnded && !state.summarizer_result) ? null : (state as PipelineState);
}

async function runWithLease(
  input: AssessmentInput,
  context: AssessmentContext,
  folder: string,
  { run, checkpoints }: DurableOptions,
): Promise<Assessment> {
  const { id, log } = context;
  const lease = holdLease(checkpoints.table, id, checkpoints.owner, checkpoints.leaseMs, log);
  checkpoints.active.add(id);
  try {
    const assessment = await run(input, { ...context, signal: AbortSignal.any([context.signal, lease.signal]) });
    const failure = await checkpoints.finish(id, folder, assessment);
    if (failure === undefined) return assessment;
    log.error({ err: failure, assessment_id: id }, 'The run could not be stored');
    return flagUnstored(assessment);
  } catch (error) {
    const reason: unknown = lease.signal.aborted ? lease.signal.reason : error;
    // A run that may succeed later can be resumed; any other is removed.
    if (isAbort(reason) || !(reason instanceof IqaError) || ERROR_KINDS[reason.code].retryable)
      await checkpoints.release(id, log);
    else await checkpoints.remove(id, folder).catch(() => undefined);
    throw reason;
  } finally {
    lease.end();
    checkpoints.active.delete(id);
  }
}

const UNSTORED =
  'The checkpoint store failed during this run: the answer is complete, but the run may not be stored and could not have been resumed.';

function flagUnstored(assessment: Assessment): Assessment {
  const { diagnostics, metadata } = assessment;
  return {
    ...assessment,
    diagnostics: { ...diagnostics, notes: [...diagnostics.notes, UNSTORED] },
    metadata: { ...metadata, degraded: true, degraded_reason: metadata.degraded_reason ?? UNSTORED },
  };
}
