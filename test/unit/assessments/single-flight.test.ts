// Identical requests on their own: one run, everybody gets all of it, and it stops only when all have gone.
import { setImmediate as tick } from 'node:timers/promises';
import t from 'tap';
import { createFlights, type Flight } from '../../../src/assessments/single-flight.ts';

const never = new AbortController().signal;

async function collect<Event>(flight: Flight<Event, unknown>): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of flight.events()) events.push(event);
  return events;
}

t.test('one run for all who ask at the same time; late comers get the whole story', async (t) => {
  const flights = createFlights<string, string>();
  let runs = 0;
  let end!: (result: string) => void;
  const work = (report: (event: string) => void) => {
    runs += 1;
    report('first');
    return new Promise<string>((resolve) => {
      end = (result) => {
        report('last');
        resolve(result);
      };
    });
  };
  const leader = flights.join('key', never, work);
  const early = collect(leader);
  await tick();
  const joiner = flights.join('key', never, work);
  const late = collect(joiner);
  t.ok(leader.isNew);
  t.notOk(joiner.isNew);
  end('result');
  t.strictSame([await leader.result, await joiner.result], ['result', 'result']);
  t.strictSame(await early, ['first', 'last']);
  t.strictSame(await late, ['first', 'last']);
  t.equal(runs, 1);
  flights.join('key', never, work);
  t.equal(runs, 2, 'what is over is not joined');
});

t.test('it is stopped when the last one has gone, not before, and nobody boards it then', async (t) => {
  const flights = createFlights<string, string>();
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
  const flight = flights.join('key', first.signal, work);
  flights.join('key', second.signal, work);
  first.abort(new Error('gone'));
  t.notOk(signals[0]?.aborted);
  second.abort(new Error('gone too'));
  t.ok(signals[0]?.aborted);
  t.ok(flights.join('key', never, work).isNew);
  await t.rejects(flight.result, { message: 'gone too' });
  t.strictSame(await collect(flight), [], 'followers end with it');
});

t.test('a failure reaches everybody', async (t) => {
  const flights = createFlights<string, string>();
  const work = async () => Promise.reject(new Error('broken'));
  const flight = flights.join('key', never, work);
  await t.rejects(flight.result, { message: 'broken' });
});
