// Back-pressure on its own: seats, turns, giving up, draining.
import { setImmediate as tick } from 'node:timers/promises';
import t from 'tap';
import { createAdmission } from '../../../src/assessments/admission.ts';
import type { IqaError } from '../../../src/errors.ts';

const never = new AbortController().signal;

/** Work that ends when told to. */
function pending() {
  let end!: () => void;
  const promise = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { work: () => promise, end };
}

t.test('as many seats as may run and wait; the next one is refused with when to come back', async (t) => {
  const admission = createAdmission({ running: 2, waiting: 16 });
  const leaves = Array.from({ length: 18 }, () => admission.enter());
  t.throws(() => admission.enter(), { code: 'IQA_BUSY', status: 503 });
  try {
    admission.enter();
  } catch (error) {
    t.ok(Number((error as IqaError).retryAfter) >= 1);
  }
  leaves[0]?.();
  leaves[0]?.();
  admission.enter();
  t.throws(() => admission.enter(), { code: 'IQA_BUSY' }, 'a seat given back twice is one seat');
});

t.test('who works in two places takes two seats, all there are at the most, and gives back what it took', async (t) => {
  const admission = createAdmission({ running: 1, waiting: 2 });
  const leave = admission.enter(2);
  t.throws(() => admission.enter(2), { code: 'IQA_BUSY' }, 'one seat is not enough');
  admission.enter()();
  leave();
  leave();
  admission.enter(9)();
  t.strictSame(admission.statistics(), { running: 0, waiting: 0 });
});

t.test('no more than the limit run at once, first come first served', async (t) => {
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

t.test('who gives up while waiting loses its turn to nobody, and a failed run frees its place', async (t) => {
  const admission = createAdmission({ running: 1, waiting: 10 });
  const first = pending();
  const running = admission.run(first.work, never);
  const impatient = new AbortController();
  const waiting = admission.run(async () => 'never', impatient.signal);
  const patient = admission.run(async () => 'done', never);
  impatient.abort(new Error('hung up'));
  await t.rejects(waiting, { message: 'hung up' });
  first.end();
  await running;
  t.equal(await patient, 'done');
  await t.rejects(
    admission.run(() => Promise.reject(new Error('failed')), never),
    { message: 'failed' },
  );
  t.equal(await admission.run(async () => 'next', never), 'next');
});

t.test('draining: nobody enters, everybody inside may finish', async (t) => {
  const admission = createAdmission({ running: 1, waiting: 1 });
  const leave = admission.enter();
  let drained = false;
  const done = admission.drain().then(() => {
    drained = true;
  });
  t.throws(() => admission.enter(), { code: 'IQA_BUSY', message: /stopping/ });
  t.ok(admission.isDraining());
  await tick();
  t.notOk(drained);
  leave();
  await done;
  await createAdmission({ running: 1, waiting: 1 }).drain();
  t.pass('an empty house drains at once');
});

t.test('who waits for a model keeps nobody else from their turn, and cannot fill the house', async (t) => {
  const admission = createAdmission({ running: 1, thinking: 2, waiting: 4 });
  const slow = Array.from({ length: 4 }, () => pending());
  const thinking = slow.map(({ work }) => admission.run(work, never, 'thinking'));
  await tick();
  t.match(admission.statistics(), { running: 2 });
  t.equal(
    await admission.run(async () => 'measured', never),
    'measured',
    'at once, though two think and two more wait',
  );
  await t.rejects(
    admission.run(async () => 'too many', never, 'thinking'),
    { code: 'IQA_BUSY', retryAfter: Number },
    'half of the seats for waiting',
  );
  t.equal(await admission.run(async () => 'measured', never), 'measured');
  for (const { end } of slow) end();
  await Promise.all(thinking);
  t.equal(await admission.run(async () => 'thought', never, 'thinking'), 'thought');
  t.equal(Array.from({ length: 7 }, () => admission.enter()).length, 7, 'seats for all');
  t.throws(() => admission.enter(), { code: 'IQA_BUSY' });
});

t.test('without a limit of their own they share the places', async (t) => {
  const admission = createAdmission({ running: 1, waiting: 4 });
  const first = pending();
  const running = admission.run(first.work, never, 'thinking');
  let begun = false;
  const second = admission.run(async () => {
    begun = true;
  }, never);
  await tick();
  t.equal(begun, false);
  t.match(admission.statistics(), { running: 1 });
  first.end();
  await Promise.all([running, second]);
});
