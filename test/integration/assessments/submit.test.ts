// Submitting without HTTP: a queue wait ends at the deadline, and files are kept until a shared run ends.
import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import { createAdmission } from '../../../src/assessments/admission.ts';
import type { RunAssessment } from '../../../src/assessments/run.ts';
import { createAssessments } from '../../../src/assessments/submit.ts';
import { createSidecarClient } from '../../../src/tools/sidecar/client.ts';
import { createSpool, type Spool } from '../../../src/uploads/spool.ts';
import { captureLog } from '../../support/app.ts';
import { makeImage } from '../../support/images/images.ts';
import { scriptReasoner } from '../../support/reasoners/scripted-reasoner.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';

const png = await makeImage({ width: 64, height: 64 }).png().toBuffer();

async function openSpool(t: Test): Promise<Spool> {
  const spool = await createSpool(await makeTempFolder(t));
  t.teardown(() => spool.close());
  return spool;
}

async function createUpload(spool: Spool, query: string) {
  const session = spool.open();
  const image = await session.write(Readable.from([png]));
  return { files: { image, reference: null }, body: { image: image.id, query }, session };
}

const createContext = (requestId: string, signal: AbortSignal = new AbortController().signal) => ({
  requestId,
  log: captureLog().log,
  signal,
});

const create = (run: RunAssessment, requestTimeoutMs: number) =>
  createAssessments({
    run,
    resume: null,
    admission: createAdmission({ running: 1, waiting: 8 }),
    sidecar: createSidecarClient(() => null),
    selectReasoner: () => ({ ...scriptReasoner({}), create: () => scriptReasoner({}) }),
    fingerprint: () => 'test',
    limits: { maxPixels: 1e6 },
    requestTimeoutMs,
  });

const createResult = (id: string) => ({ id, metadata: {} }) as Assessment;

t.test('a request that waits in the queue until its deadline is refused as busy', async (t) => {
  const assessments = create(async () => {
    await delay(1_000);
    return createResult('slow');
  }, 300);
  const spool = await openSpool(t);
  const first = await assessments.submit(await createUpload(spool, 'Is it sharp?'), createContext('first'));
  const second = await assessments.submit(await createUpload(spool, 'Is it noisy?'), createContext('second'));
  await t.rejects(second.result(), { code: 'IQA_BUSY', message: /waited 300 ms in the queue/ });
  t.match(await first.result(), { id: 'slow', metadata: { request_id: 'first' } });
});

t.test('the files of a shared run are kept until it ends, after the client that sent them disconnected', async (t) => {
  let runs = 0;
  let end!: () => void;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const assessments = create(async () => {
    runs += 1;
    await ended;
    return createResult('shared');
  }, 10_000);
  const disconnected = new AbortController();
  const spool = await openSpool(t);
  const upload = await createUpload(spool, 'Is it sharp?');
  const first = await assessments.submit(upload, createContext('first', disconnected.signal));
  const second = await assessments.submit(await createUpload(spool, 'Is it sharp?'), createContext('second'));
  t.equal(second.etag, first.etag);
  await upload.session.close();
  disconnected.abort();
  await t.rejects(first.result(), { name: 'AbortError' });
  t.ok(existsSync(upload.files.image.path), 'still needed');
  end();
  t.match(await second.result(), { id: 'shared', metadata: { request_id: 'second' } });
  t.equal(runs, 1);
  t.notOk(existsSync(upload.files.image.path), 'removed with the run');
});

t.test('a current ETag is answered without a run; a client id makes a run of its own', async (t) => {
  const ids: string[] = [];
  const assessments = create(async (_input, { id }) => {
    ids.push(id);
    await delay(20);
    return createResult(id);
  }, 10_000);
  const spool = await openSpool(t);
  const submit = async (options = {}) =>
    assessments.submit(await createUpload(spool, 'Is it sharp?'), createContext('test'), options);
  const shared = await submit();
  const own = await submit({ id: '0B0C0D0E-0000-4000-8000-000000000001' });
  await Promise.all([shared.result(), own.result()]);
  t.equal(ids.length, 2);
  t.equal(ids[1], '0b0c0d0e-0000-4000-8000-000000000001');
  await t.rejects(submit({ ifNoneMatch: `"other", ${shared.etag}` }), {
    code: 'IQA_INPUT_UNCHANGED',
    etag: shared.etag,
  });
  t.equal(ids.length, 2);
  await t.rejects(assessments.resume('any', createContext('test')), { code: 'IQA_INPUT_NOT_FOUND' });
});
