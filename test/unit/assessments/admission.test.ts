// Admission without HTTP: slots, queues, cancellation, draining.
import { setImmediate as tick } from 'node:timers/promises';
import t from 'tap';
import { createAdmission } from '../../../src/assessments/admission.ts';
import type { IqaError } from '../../../src/errors.ts';

const never = new AbortController().signal;

/** Work that ends when `end` is called. */
function pending() {
  let end!: () => void;
  const promise = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { work: () => promise, end };
}

t.test('slots for as many requests as may run and wait; the next one is refused with Retry-After', async (t) => {
  const admission = createAdmission({ running: 2, waiting: 16 });
  const releases = Array.from({ length: 18 }, () => admission.acquire());
  t.throws(() => admission.acquire(), { code: 'IQA_BUSY', status: 503 });
  try {
    admission.acquire();
  } catch (error) {
    t.ok(Number((error as IqaError).retryAfter) >= 1);
  }
  releases[0]?.();
  releases[0]?.();
  admission.acquire();
  t.throws(() => admission.acquire(), { code: 'IQA_BUSY' }, 'a slot released twice is one slot');
});

t.test('a request may take several slots, at most all of them, and releases what it took', async (t) => {
  const admission = createAdmission({ running: 1, waiting: 2 });
  const release = admission.acquire(2);
  t.throws(() => admission.acquire(2), { code: 'IQA_BUSY' }, 'one free slot is not enough');
  admission.acquire()();
  release();
  release();
  admission.acquire(9)();
  t.strictSame(admission.statistics(), { running: 0, waiting: 0 });
});

t.test('no more than the limit run at once, first come, first served', async (t) => {
  const admission = createAdmission({ running: 2, waiting: 10 });
  const started: number[] = [];
  const jobs = Array.from({ length: 4 }, () => pending());
  const runs = jobs.map(({ work }, index) =>
    admission.run(() => {
      started.push(index);
      return work();
    }, never),
  );
  await tick();
  t.strictSame(started, [0, 1]);
  jobs[1]?.end();
  await runs[1];
  await tick();
  t.strictSame(started, [0, 1, 2]);
  jobs[0]?.end();
  await runs[0];
  await tick();
  t.strictSame(started, [0, 1, 2, 3]);
  for (const { end } of jobs) end();
  await Promise.all(runs);
});

t.test('a cancelled wait leaves the queue intact, and a failed run frees its place', async (t) => {
  const admission = createAdmission({ running: 1, waiting: 10 });
  const first = pending();
  const running = admission.run(first.work, never);
  const cancelled = new AbortController();
  const waiting = admission.run(async () => 'never', cancelled.signal);
  const next = admission.run(async () => 'done', never);
  cancelled.abort(new Error('disconnected'));
  await t.rejects(waiting, { message: 'disconnected' });
  first.end();
  await running;
  t.equal(await next, 'done');
  await t.rejects(
    admission.run(() => Promise.reject(new Error('failed')), never),
    { message: 'failed' },
  );
  t.equal(await admission.run(async () => 'next', never), 'next');
});

t.test('draining refuses new requests and waits for those in flight', async (t) => {
  const admission = createAdmission({ running: 1, waiting: 1 });
  const release = admission.acquire();
  let drained = false;
  const done = admission.drain().then(() => {
    drained = true;
  });
  t.throws(() => admission.acquire(), { code: 'IQA_BUSY', message: /shutting down/ });
  t.ok(admission.isDraining());
  await tick();
  t.notOk(drained);
  release();
  await done;
  await createAdmission({ running: 1, waiting: 1 }).drain();
  t.pass('without requests in flight it drains at once');
});

t.test('runs with a model neither delay the others nor fill the queue', async (t) => {
  const admission = createAdmission({ running: 1, model: 2, waiting: 4 });
  const slow = Array.from({ length: 4 }, () => pending());
  const modelRuns = slow.map(({ work }) => admission.run(work, never, 'model'));
  await tick();
  t.match(admission.statistics(), { running: 2 });
  t.equal(
    await admission.run(async () => 'measured', never),
    'measured',
    'at once, though two runs with a model are active and two more wait',
  );
  await t.rejects(
    admission.run(async () => 'too many', never, 'model'),
    { code: 'IQA_BUSY', retryAfter: Number },
    'half of the waiting slots',
  );
  t.equal(await admission.run(async () => 'measured', never), 'measured');
  for (const { end } of slow) end();
  await Promise.all(modelRuns);
  t.equal(await admission.run(async () => 'answered', never, 'model'), 'answered');
  t.equal(Array.from({ length: 7 }, () => admission.acquire()).length, 7, 'slots for all');
  t.throws(() => admission.acquire(), { code: 'IQA_BUSY' });
});

t.test('without a limit of their own, runs with a model share the limit of the others', async (t) => {
  const admission = createAdmission({ running: 1, waiting: 4 });
  const first = pending();
  const running = admission.run(first.work, never, 'model');
  let started = false;
  const second = admission.run(async () => {
    started = true;
  }, never);
  await tick();
  t.equal(started, false);
  t.match(admission.statistics(), { running: 1 });
  first.end();
  await Promise.all([running, second]);
});
