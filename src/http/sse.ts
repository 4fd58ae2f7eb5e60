// Server-sent events: the progress of an assessment as named events; the last one is the result or a problem.
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LastEvent, ProgressEvent } from '../../schemas/responses/progress.ts';
import type { Submission } from '../assessments/submit.ts';
import { createProblem, logError, translateError } from './error-handler.ts';

export const EVENT_STREAM = 'text/event-stream';

/** Shorter than the idle timeouts of common gateways. */
const KEEP_ALIVE_MS = 15_000;
/** A comment line, which clients ignore. */
const KEEP_ALIVE = ': keep-alive\n\n';

/** Waits for the first event: a request refused before its run starts gets an ordinary problem with its own status. */
export async function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  { events: openEvents, result }: Submission,
): Promise<FastifyReply> {
  const events = openEvents();
  const first = await events.next();
  if (first.done) await result();
  async function* stream(): AsyncGenerator<string> {
    if (!first.done) yield format(first.value);
    yield* withKeepAlive(events);
    yield format(await createLastEvent(request, result));
  }
  // A gateway that buffers would deliver all events at the end.
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

async function createLastEvent(request: FastifyRequest, result: Submission['result']): Promise<LastEvent> {
  try {
    return { event: 'result', data: await result() };
  } catch (error) {
    const known = translateError(error, request);
    logError(error, known, request);
    return { event: 'error', data: createProblem(known, request.id) };
  }
}

const format = ({ event, data }: ProgressEvent | LastEvent): string =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
