// Waiting for a turn, on its own: who waits past the deadline is told that we are busy, and files outlive whoever uploaded them.
import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import { createAdmission } from '../../../src/assessments/admission.ts';
import type { Assessor } from '../../../src/assessments/run.ts';
import { createSpool, type Spool } from '../../../src/uploads/spool.ts';
import { createReception } from '../../../src/assessments/submit.ts';
import { captureLog } from '../../support/app.ts';
import { makePicture } from '../../support/images.ts';

const picture = await makePicture({ width: 64, height: 64 }).png().toBuffer();

async function openSpool(t: Test): Promise<Spool> {
  const spool = await createSpool(t.testdir());
  t.teardown(() => spool.close());
  return spool;
}

async function arrive(spool: Spool, signal: AbortSignal = new AbortController().signal) {
  const session = spool.open();
  const file = await session.write(Readable.from([picture]));
  return {
    files: new Map([['image', file] as const]),
    body: { image: file.id },
    session,
    requestId: 'test',
    log: captureLog().log,
    signal,
    path: file.path,
  };
}

const reception = (assess: Assessor, requestTimeoutMs: number) =>
  createReception({
    assess,
    admission: createAdmission({ running: 1, waiting: 8 }),
    requestTimeoutMs,
    limits: { maxPixels: 1e6 },
  });

t.test('who waits longer than the deadline for its turn is told that we are busy', async (t) => {
  const receive = reception(async () => {
    await delay(1_000);
    return { id: 'slow' } as Assessment;
  }, 300);
  const spool = await openSpool(t);
  const first = receive('one', await arrive(spool));
  const second = receive('two', await arrive(spool));
  await t.rejects(second.result, { code: 'IQA_BUSY', message: /waited 300 ms for its turn/ });
  t.equal((await first.result).id, 'slow');
});

t.test('the files of a shared run stay until it ends, though the client that sent them has gone', async (t) => {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const receive = reception(async () => {
    await ended;
    return { id: 'shared' } as Assessment;
  }, 10_000);
  const gone = new AbortController();
  const spool = await openSpool(t);
  const leader = await arrive(spool, gone.signal);
  receive('same', leader);
  const joined = receive('same', await arrive(spool));
  t.notOk(joined.isNew);
  await leader.session.close();
  gone.abort();
  t.ok(existsSync(leader.path), 'still needed');
  end();
  t.equal((await joined.result).id, 'shared');
  t.notOk(existsSync(leader.path), 'gone with the run');
});
