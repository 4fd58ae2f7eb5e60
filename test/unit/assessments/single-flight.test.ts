// Single flight: one run for identical work, all events for every caller, aborted only when all callers are.
import { setImmediate as tick } from 'node:timers/promises';
import t from 'tap';
import { createSingleFlight, type SharedRun } from '../../../src/assessments/single-flight.ts';

const never = new AbortController().signal;

async function collect<Event>(run: SharedRun<Event, unknown>): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of run.events()) events.push(event);
  return events;
}

t.test('concurrent callers share one run; a late caller gets all events', async (t) => {
  const runs = createSingleFlight<string, string>();
  let count = 0;
  let end!: (result: string) => void;
  const work = (report: (event: string) => void) => {
    count += 1;
    report('first');
    return new Promise<string>((resolve) => {
      end = (result) => {
        report('last');
        resolve(result);
      };
    });
  };
  const first = runs.joinOrStart('key', never, work);
  const early = collect(first);
  await tick();
  const second = runs.joinOrStart('key', never, work);
  const late = collect(second);
  t.ok(first.isNew);
  t.notOk(second.isNew);
  end('result');
  t.strictSame([await first.result, await second.result], ['result', 'result']);
  t.strictSame(await early, ['first', 'last']);
  t.strictSame(await late, ['first', 'last']);
  t.equal(count, 1);
  runs.joinOrStart('key', never, work);
  t.equal(count, 2, 'a finished run is not joined');
});

t.test('a run is aborted with its last caller, not before, and is then not joined', async (t) => {
  const runs = createSingleFlight<string, string>();
  const signals: AbortSignal[] = [];
  const work = (_report: unknown, signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<string>((_, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    });
  };
  const [first, second] = [new AbortController(), new AbortController()];
  const run = runs.joinOrStart('key', first.signal, work);
  runs.joinOrStart('key', second.signal, work);
  first.abort(new Error('disconnected'));
  t.notOk(signals[0]?.aborted);
  second.abort(new Error('last disconnected'));
  t.ok(signals[0]?.aborted);
  t.ok(runs.joinOrStart('key', never, work).isNew);
  await t.rejects(run.result, { message: 'last disconnected' });
  t.strictSame(await collect(run), [], 'event streams end with it');
});

t.test('a failure reaches every caller', async (t) => {
  const runs = createSingleFlight<string, string>();
  const work = async () => Promise.reject(new Error('broken'));
  const run = runs.joinOrStart('key', never, work);
  const joined = runs.joinOrStart('key', never, work);
  await t.rejects(run.result, { message: 'broken' });
  await t.rejects(joined.result, { message: 'broken' });
  t.notOk(joined.isNew);
});
