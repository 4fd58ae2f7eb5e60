// One comparison: assesses every image, two at a time, and ranks the results.
import { randomUUID } from 'node:crypto';
import { DEFAULT_QUERY } from '../../schemas/requests/assess.ts';
import type { Assessment } from '../../schemas/responses/assessment.ts';
import type { Comparison } from '../../schemas/responses/comparison.ts';
import { runWhenAdmitted, type Admission } from '../assessments/admission.ts';
import type { SelectReasoner } from '../assessments/context.ts';
import { startDeadline } from '../assessments/deadline.ts';
import type { RunAssessment } from '../assessments/run.ts';
import type { PipelineConfig } from '../config/config.ts';
import type { RequestContext } from '../http/request-context.ts';
import { prepareImage, type DecodingLimits, type PreparedImage } from '../images/prepare-image.ts';
import { alignReference } from '../images/prepare-pair.ts';
import { nameImage, type CompareUpload } from '../uploads/compare-form.ts';
import { mapConcurrently } from './map-concurrently.ts';
import { mergeMetadata } from './metadata.ts';
import { writeNotes } from './notes.ts';
import { rankImages } from './ranking.ts';

/** The size of the smallest comparison, and the number of slots that every comparison takes. */
export const IMAGES_AT_ONCE = 2;

interface CompareOptions {
  run: RunAssessment;
  admission: Admission;
  selectReasoner: SelectReasoner;
  config: PipelineConfig;
  limits: DecodingLimits;
}

export type CompareImages = (upload: CompareUpload, context: RequestContext) => Promise<Comparison>;

export function createCompareImages(options: CompareOptions): CompareImages {
  const { comparison: settings } = options.config;
  return async (upload, context) => {
    const started = performance.now();
    // The files are kept until all runs have ended, even if the client disconnects.
    const { assessments, reference } = await upload.session.hold(() => assessAll(upload, context, options));
    const kind = upload.files.reference ? 'with_reference' : 'without_reference';
    const rule = {
      decided_at: settings.decided_at,
      shared_error: settings.shared_error[kind],
      spread_without_interval: settings.spread[kind],
    };
    const compared = assessments.map((assessment, index) => ({ number: index + 1, assessment }));
    return {
      id: randomUUID(),
      query: upload.body.query ?? DEFAULT_QUERY,
      reference: reference?.info ?? null,
      ...rankImages(compared, rule),
      rule,
      notes: writeNotes(assessments),
      metadata: mergeMetadata(assessments, context.requestId, performance.now() - started),
    };
  };
}

async function assessAll(
  { files, body, session }: CompareUpload,
  context: RequestContext,
  { run, admission, selectReasoner, config, limits }: CompareOptions,
) {
  const { images: _images, reference: _reference, ...question } = body;
  const reasoner = selectReasoner(body.backend);
  const deadline = startDeadline(config.timeouts_ms.request);
  const failed = new AbortController();
  const signal = AbortSignal.any([context.signal, failed.signal]);
  const shared = { ...context, signal, deadline, reasoner, report: () => undefined, resumeFrom: null };
  // All images have the same reference: it is prepared once, in the first run.
  let preparing: Promise<PreparedImage> | null = null;
  const prepareReference = async (): Promise<PreparedImage | null> =>
    files.reference && (await (preparing ??= prepareImage(files.reference, 'reference', session, limits)));

  const assessments = await mapConcurrently(
    files.images,
    IMAGES_AT_ONCE,
    (file, index): Promise<Assessment> =>
      runWhenAdmitted(admission, shared, async () => {
        const name = nameImage(index);
        const [image, original] = await Promise.all([prepareImage(file, name, session, limits), prepareReference()]);
        const reference = original && (await alignReference(original, image, body.align, session, name));
        return run({ ...question, image, reference, regions: [] }, { ...shared, id: randomUUID() });
      }),
    () => {
      failed.abort();
    },
  );
  return { assessments, reference: await prepareReference() };
}
