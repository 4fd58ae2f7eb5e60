// The id, log and disconnect signal of a request.
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';

/** What the work for an HTTP request needs of it. */
export interface RequestContext {
  requestId: string;
  log: FastifyBaseLogger;
  /** Aborted when the client disconnects before it has its response. */
  signal: AbortSignal;
}

export function createRequestContext(request: FastifyRequest, reply: FastifyReply): RequestContext {
  return { requestId: request.id, log: request.log, signal: createDisconnectSignal(request, reply) };
}

function createDisconnectSignal(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const abort = () => {
    if (!reply.raw.writableEnded) controller.abort(new DOMException('The client disconnected', 'AbortError'));
  };
  // The connection may have closed while the upload was read.
  if (request.raw.socket.destroyed) abort();
  else reply.raw.on('close', abort);
  return controller.signal;
}
