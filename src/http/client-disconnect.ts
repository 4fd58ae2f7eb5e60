// A client that goes away, as a signal for the work that was done for it.
import type { FastifyReply } from 'fastify';

/** Fires when the client goes away before it has its answer. */
export function hangUpSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.on('close', () => {
    if (!reply.raw.writableEnded) controller.abort(new DOMException('The client hung up', 'AbortError'));
  });
  return controller.signal;
}
