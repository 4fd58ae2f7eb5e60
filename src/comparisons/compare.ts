// One comparison: every picture goes through the assessor as a run of its own, two at a time; what comes back is ranked.
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { DEFAULT_QUERY } from '../../schemas/requests/assess.ts';
import type { Assessment } from '../../schemas/responses/assessment.ts';
import type { CompareRequest } from '../../schemas/requests/compare.ts';
import type { Comparison } from '../../schemas/responses/comparison.ts';
import type { Admission, Lane } from '../assessments/admission.ts';
import type { Assessor } from '../assessments/run.ts';
import type { PipelineConfig } from '../config/config.ts';
import { startDeadline } from '../assessments/deadline.ts';
import { IqaError, isAbort } from '../errors.ts';
import { nameImage, type ComparisonFiles } from '../uploads/compare-form.ts';
import { prepareImage, type DecodingLimits, type PreparedImage } from '../images/prepare-image.ts';
import { alignReference } from '../images/prepare-request.ts';
import type { SpoolSession } from '../uploads/spool.ts';
import { waitForTurn } from '../assessments/submit.ts';
import { mergeMetadata } from './metadata.ts';
import { rankPictures } from './ranking.ts';

/** As many as the smallest comparison has pictures: so every comparison takes that many seats, and none keeps more places than it has seats. */
export const PICTURES_AT_ONCE = 2;

export interface ComparisonRequest {
  files: ComparisonFiles;
  body: CompareRequest;
  session: SpoolSession;
  requestId: string;
  log: Logger;
  /** Aborted when the client hangs up. */
  signal: AbortSignal;
}

export interface ComparerOptions {
  assess: Assessor;
  admission: Admission;
  config: PipelineConfig;
  limits: DecodingLimits;
  /** What an assessment with this back end will spend its time with. */
  laneOf: (backend: string | undefined) => Lane;
}

export type Comparer = (request: ComparisonRequest) => Promise<Comparison>;

export function createComparer(options: ComparerOptions): Comparer {
  const { comparison: settings } = options.config;
  return async (request) => {
    const started = performance.now();
    const { files, body, session, requestId } = request;
    // Our files stay for as long as a run reads them, also when the client has hung up.
    const { assessments, reference } = await session.hold(() => assessAll(request, options));
    const kind = files.reference ? 'with_reference' : 'without_reference';
    const rule = {
      decided_at: settings.decided_at,
      shared_error: settings.shared_error[kind],
      spread_without_interval: settings.spread[kind],
    };
    const ranked = rankPictures(
      assessments.map((assessment, index) => ({ picture: index + 1, assessment })),
      rule,
    );
    return {
      id: randomUUID(),
      query: body.query ?? DEFAULT_QUERY,
      reference: reference?.info ?? null,
      ...ranked,
      rule,
      notes: noteDoubts(assessments),
      metadata: mergeMetadata(assessments, requestId, performance.now() - started),
    };
  };
}

async function assessAll(
  { files, body, session, requestId, log, signal }: ComparisonRequest,
  { assess, admission, config, limits, laneOf }: ComparerOptions,
) {
  const deadline = startDeadline(config.timeouts_ms.request);
  const failed = new AbortController();
  const abandoned = AbortSignal.any([signal, failed.signal]);
  // The reference is the same for all of them: decoded by whoever needs it first.
  let preparing: Promise<PreparedImage> | null = null;
  const prepareReference = async (): Promise<PreparedImage | null> =>
    files.reference && (await (preparing ??= prepareImage(files.reference, 'reference', session, limits)));
  const { images, reference: referenceFile, ...question } = body;

  const assessOne = (index: number): Promise<Assessment> =>
    waitForTurn(
      admission,
      async () => {
        const file = files.images[index];
        if (!file) throw new TypeError('Expected a file for every picture');
        const name = nameImage(index);
        const [image, original] = await Promise.all([prepareImage(file, name, session, limits), prepareReference()]);
        const reference = original && (await alignReference(original, image, body.align, session, name));
        const call = { id: randomUUID(), requestId, log, signal: abandoned, deadline, report: () => undefined };
        return assess({ ...question, image, reference, regions: [] }, call).catch((error: unknown) => {
          throw renameImage(error, name);
        });
      },
      { deadline, abandoned, lane: laneOf(body.backend) },
    );

  const assessments = await mapInTurns(files.images.length, assessOne, () => {
    failed.abort();
  });
  return { assessments, reference: await prepareReference() };
}

/** Damage that the sidecar finds first is told of "image", the only one that it knows. */
function renameImage(error: unknown, name: string): unknown {
  if (!(error instanceof IqaError) || error.code !== 'IQA_INPUT_IMAGE') return error;
  return new IqaError(error.code, error.message.replace(/\bfor image\b/, `for ${name}`), { cause: error });
}

/** Two at a time. The first failure stops the others; when all have come to rest, the failure of the earliest picture is the one that is told. */
async function mapInTurns<T>(count: number, work: (index: number) => Promise<T>, stop: () => void): Promise<T[]> {
  const results = new Map<number, T>();
  const failures = new Map<number, unknown>();
  let next = 0;
  const worker = async () => {
    while (next < count && failures.size === 0) {
      const index = next++;
      try {
        results.set(index, await work(index));
      } catch (error) {
        failures.set(index, error);
        stop();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(PICTURES_AT_ONCE, count) }, worker));
  // Who was stopped because of another one did not fail himself.
  const causes = [...failures].toSorted(([a], [b]) => a - b).map(([, error]) => error);
  if (causes.length > 0) throw causes.find((error) => !isAbort(error)) ?? causes[0];
  return Array.from({ length: count }, (_, index) => results.get(index) as T);
}

function noteDoubts(assessments: readonly Assessment[]): string[] {
  const methods = new Set(assessments.flatMap(({ quality_score: score }) => score?.method ?? []));
  const withoutInterval = assessments.some(({ quality_score: score }) => score && !score.interval);
  const named = [
    ...new Set(
      assessments.flatMap(({ plan }) =>
        plan?.distortion_source === 'Explicit' ? Object.values(plan.distortions ?? {}).flat() : [],
      ),
    ),
  ];
  const sizes = new Set(assessments.map(({ image: { width, height } }) => `${width} × ${height}`));
  return [
    ...(named.length > 0
      ? [
          `The question names ${named.join(', ')}: only that was looked at, and the ranking is by the quality scores that rest on it.`,
        ]
      : []),
    ...(methods.size > 1
      ? [`The scores were made in different ways (${[...methods].join(', ')}), so that they compare less well.`]
      : []),
    ...(withoutInterval
      ? ['Scores without an interval are judged by a typical spread of such scores (rule.spread_without_interval).']
      : []),
    ...(sizes.size > 1 ? [`The pictures differ in size (${[...sizes].join(', ')}); each was judged at its own.`] : []),
  ];
}
