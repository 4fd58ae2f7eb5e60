// Sends every error as RFC 9457 problem+json, also for unknown paths and requests that are not valid HTTP.
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Problem } from '../../schemas/responses/problem.ts';
import { ValidationError } from '../../schemas/validation/model.ts';
import { ERROR_KINDS, getMessage, IqaError, type ErrorCode } from '../errors.ts';
import { discardBody } from './discard-body.ts';

export const errorHandlerPlugin = fastifyPlugin(
  async (app) => {
    const getAllowedMethods = collectRoutes(app);
    const createNotFoundError = ({ url, method }: FastifyRequest): IqaError => {
      const path = (url.split('?')[0] ?? '').slice(0, 200);
      const allowed = getAllowedMethods(path);
      if (allowed.length === 0) return new IqaError('IQA_INPUT_NOT_FOUND', `No route for ${path}; see GET /docs`);
      return new IqaError('IQA_INPUT_METHOD', `Expected ${allowed.join(' or ')} for ${path} but received ${method}`, {
        allow: allowed.join(', '),
      });
    };
    // For an unknown path, other errors of the request do not matter.
    app.setErrorHandler((error, request, reply) =>
      sendProblem(request.is404 ? createNotFoundError(request) : error, request, reply),
    );
    app.setNotFoundHandler((request, reply) => sendProblem(createNotFoundError(request), request, reply));
  },
  { name: 'error-handler' },
);

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = translateError(error, request);
  discardBody(request.raw);
  logError(error, known, request);
  void reply.header('x-request-id', request.id);
  if (known.retryAfter !== undefined) void reply.header('retry-after', String(known.retryAfter));
  if (known.allow !== undefined) void reply.header('allow', known.allow);
  if (known.etag !== undefined) void reply.header('etag', known.etag);
  return reply
    .code(known.status)
    .type('application/problem+json')
    .serializer(JSON.stringify)
    .send(createProblem(known, request.id));
}

export function logError(error: unknown, known: IqaError, request: FastifyRequest): void {
  // After a disconnect the abort is expected.
  if (request.raw.socket.destroyed) request.log.info({ reason: getMessage(error) }, 'Client disconnected');
  else if (known.status >= 500 && known.code !== 'IQA_BUSY')
    request.log.error({ err: error, code: known.code }, 'Request failed');
  else request.log.info({ code: known.code, detail: known.message }, 'Request refused');
}

export function createProblem(error: IqaError, requestId: string): Problem {
  const { status, title } = ERROR_KINDS[error.code];
  const errors = error.issues?.map(({ path, expected, received }) => ({ path, expected, received }));
  return {
    type: `/errors/${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    request_id: requestId,
    ...(errors ? { errors } : {}),
  };
}

/** Errors of Fastify and its plugins, by code. */
const FRAMEWORK_ERRORS: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['IQA_INPUT_TOO_LARGE', 'The request body is larger than this route accepts'],
  FST_ERR_CTP_EMPTY_TYPE: ['IQA_INPUT_MEDIA_TYPE', 'Expected a content type but received none'],
  FST_PARTS_LIMIT: ['IQA_INPUT_TOO_LARGE', 'The form has more parts than this route accepts'],
  FST_FILES_LIMIT: ['IQA_INPUT_TOO_LARGE', 'The form has more files than this route accepts'],
  FST_FIELDS_LIMIT: ['IQA_INPUT_TOO_LARGE', 'The form has more fields than this route accepts'],
  FST_PROTO_VIOLATION: ['IQA_INPUT_INVALID', 'This field name is not allowed'],
  FST_INVALID_MULTIPART_CONTENT_TYPE: ['IQA_INPUT_MEDIA_TYPE', 'Expected multipart/form-data with a boundary'],
  FST_INVALID_JSON_FIELD_ERROR: ['IQA_INPUT_INVALID', 'A field declared as JSON is not valid JSON'],
  FST_MP_PREMATURE_CLOSE: ['IQA_INPUT_MALFORMED', 'The request ended before the end of the form'],
};

export function translateError(error: unknown, request: FastifyRequest): IqaError {
  if (error instanceof IqaError) return error;
  if (error instanceof ValidationError)
    return new IqaError('IQA_INPUT_INVALID', error.issues.map((issue) => issue.message).join('; '), {
      issues: error.issues,
    });
  const { code, statusCode } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    const received = request.headers['content-type']?.slice(0, 100) ?? 'no content type';
    return new IqaError(
      'IQA_INPUT_MEDIA_TYPE',
      `Expected multipart/form-data or application/json but received ${received}`,
      { cause: error },
    );
  }
  const known = FRAMEWORK_ERRORS[code ?? ''];
  if (known) return new IqaError(known[0], known[1], { cause: error });
  // What the client got wrong (a malformed form, a bad URL) is a 4xx with the wording of the parser.
  if ((statusCode !== undefined && statusCode >= 400 && statusCode < 500) || isFormError(error)) {
    return new IqaError('IQA_INPUT_MALFORMED', `The request is malformed: ${getMessage(error)}`, { cause: error });
  }
  return new IqaError('IQA_INTERNAL', 'Internal server error; the logs have details under the request id', {
    cause: error,
  });
}

/** The form parser throws plain errors without a code. */
const isFormError = (error: unknown): boolean =>
  error instanceof Error && /Multipart|boundary|Unexpected end of form|Malformed part header/i.test(error.message);

/** Collects the routes, so that a known path with another method gets 405 and an Allow header. */
function collectRoutes(app: FastifyInstance): (path: string) => string[] {
  const routes: { pattern: RegExp; methods: string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    if (url.includes('*')) return;
    const pattern = new RegExp(`^${url.replaceAll(/[.]/g, '\\.').replaceAll(/:\w+/g, '[^/]+')}$`);
    routes.push({ pattern, methods: [method].flat() });
  });
  return (path) =>
    [...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))].sort();
}

/** A request that is not valid HTTP reaches no route: the problem is written to the socket. */
export function refuseMalformedHttp(this: FastifyInstance, error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const requestId = randomUUID();
  const known = translateConnectionError(error);
  this.log.info({ request_id: requestId, code: known.code, reason: error.code }, 'Request refused');
  const body = JSON.stringify(createProblem(known, requestId));
  const head = [
    `HTTP/1.1 ${known.status} ${STATUS_CODES[known.status] ?? ''}`,
    'Content-Type: application/problem+json',
    `X-Request-Id: ${requestId}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function translateConnectionError({ code }: ConnectionError): IqaError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new IqaError('IQA_INPUT_TIMEOUT', 'The request did not arrive in time');
  if (code === 'HPE_HEADER_OVERFLOW')
    return new IqaError('IQA_INPUT_TOO_LARGE', 'The headers are larger than this service accepts');
  return new IqaError('IQA_INPUT_MALFORMED', 'The request is not valid HTTP');
}
