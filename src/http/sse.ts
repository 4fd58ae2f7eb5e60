// Server-sent events: an assessment's progress as named events, the result or the problem as the last one.
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Assessment } from '../../schemas/responses/assessment.ts';
import type { LastEvent, ProgressEvent } from '../../schemas/responses/progress.ts';
import { problemOf, translateError } from './error-handler.ts';
import type { AssessmentFlight } from '../assessments/submit.ts';

export const EVENT_STREAM = 'text/event-stream';

/** Shorter than the idle limits of the usual gateways. */
const KEEP_ALIVE_MS = 15_000;
/** A comment, which clients pass over. */
const KEEP_ALIVE = ': still at work\n\n';

/** Makes the answer of a shared run this request's own. */
type Finish = (assessment: Assessment) => Assessment;

/** Waits for the first event, so that what is refused before the run begins is an ordinary problem with its own status. */
export async function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  flight: AssessmentFlight,
  finish: Finish,
): Promise<FastifyReply> {
  const events = flight.events();
  const first = await events.next();
  if (first.done) await flight.result;
  async function* stream(): AsyncGenerator<string> {
    if (!first.done) yield format(first.value);
    yield* withKeepAlive(events);
    yield format(await lastEvent(request, flight, finish));
  }
  // A gateway that buffers would hand over all events at the end.
  return reply
    .type(EVENT_STREAM)
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no')
    .send(Readable.from(stream()));
}

async function* withKeepAlive(events: AsyncGenerator<ProgressEvent, void>): AsyncGenerator<string> {
  let next = events.next();
  for (;;) {
    const stop = new AbortController();
    const silence = delay(KEEP_ALIVE_MS, null, { signal: stop.signal, ref: false }).catch(() => null);
    const step = await Promise.race([next, silence]);
    stop.abort();
    if (step === null) {
      yield KEEP_ALIVE;
    } else {
      if (step.done) return;
      yield format(step.value);
      next = events.next();
    }
  }
}

async function lastEvent(request: FastifyRequest, flight: AssessmentFlight, finish: Finish): Promise<LastEvent> {
  try {
    return { event: 'result', data: finish(await flight.result) };
  } catch (error) {
    const known = translateError(error, request);
    request.log.error({ err: error, code: known.code }, 'Request failed');
    return { event: 'error', data: problemOf(known, request.id) };
  }
}

const format = ({ event, data }: ProgressEvent | LastEvent): string =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
