// Adds the request id to every response and writes one log line per request.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import fastifyPlugin from 'fastify-plugin';

export const requestLogPlugin = fastifyPlugin(
  async (app) => {
    app.addHook('onRequest', async (request, reply) => {
      void reply.header('x-request-id', request.id);
    });
    app.addHook('onResponse', async ({ method, url, log }, reply) => {
      // Without the query string, which may contain private data.
      const path = url.split('?')[0];
      const responseMs = Math.round(reply.elapsedTime * 10) / 10;
      log.info({ method, path, status: reply.statusCode, response_ms: responseMs }, 'Request finished');
    });
  },
  { name: 'request-log' },
);

/** The client's own id if it is safe in headers and logs, otherwise a new one. */
export function createRequestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const own = headers['x-request-id'];
  return typeof own === 'string' && /^[\w.:-]{1,128}$/.test(own) ? own : randomUUID();
}
