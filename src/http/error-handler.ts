// The HTTP edge of errors: whatever was thrown, on whatever route, leaves as RFC 9457 problem+json.
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ValidationError } from '../../schemas/validation/model.ts';
import type { Problem } from '../../schemas/responses/problem.ts';
import { ERROR_KINDS, IqaError, messageOf, type ErrorCode } from '../errors.ts';

export function registerProblems(app: FastifyInstance): void {
  const allowedMethods = watchRoutes(app);
  const nothingThere = (request: FastifyRequest): IqaError => {
    const path = pathOf(request);
    const allowed = allowedMethods(path);
    return allowed.length > 0
      ? new IqaError(
          'IQA_INPUT_METHOD',
          `Expected ${allowed.join(' or ')} for ${path} but received ${request.method}`,
          { allow: allowed.join(', ') },
        )
      : new IqaError('IQA_INPUT_NOT_FOUND', `There is nothing at ${path}; GET /docs shows what is here`);
  };
  // Where there is nothing, it does not matter what else is wrong with the request.
  app.setErrorHandler((error, request, reply) =>
    sendProblem(request.is404 ? nothingThere(request) : error, request, reply),
  );
  app.setNotFoundHandler((request, reply) => sendProblem(nothingThere(request), request, reply));
}

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = translateError(error, request);
  void reply.header('x-request-id', request.id);
  // Nobody is left to answer, and nothing of it is a fault of ours.
  if (request.raw.socket.destroyed) request.log.info({ reason: messageOf(error) }, 'Client hung up');
  else if (known.status >= 500 && known.code !== 'IQA_BUSY')
    request.log.error({ err: error, code: known.code }, 'Request failed');
  else request.log.info({ code: known.code, detail: known.message }, 'Request refused');
  if (known.retryAfter !== undefined) void reply.header('retry-after', String(known.retryAfter));
  if (known.allow !== undefined) void reply.header('allow', known.allow);
  if (known.etag !== undefined) void reply.header('etag', known.etag);
  return reply
    .code(known.status)
    .type('application/problem+json')
    .serializer(JSON.stringify)
    .send(problemOf(known, request.id));
}

export function problemOf(error: IqaError, requestId: string): Problem {
  const { status, title } = ERROR_KINDS[error.code];
  return {
    type: `/errors/${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    request_id: requestId,
    ...(error.issues
      ? { errors: error.issues.map(({ path, expected, received }) => ({ path, expected, received })) }
      : {}),
  };
}

/** Fastify's and its plugins' own errors, by their codes, in our words. */
const FRAMEWORK_ERRORS: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['IQA_INPUT_TOO_LARGE', 'The request body is larger than this route takes'],
  FST_ERR_CTP_EMPTY_TYPE: ['IQA_INPUT_MEDIA_TYPE', 'Expected a content type but received none'],
  FST_PARTS_LIMIT: ['IQA_INPUT_TOO_LARGE', 'The form has more parts than this route takes'],
  FST_FILES_LIMIT: ['IQA_INPUT_TOO_LARGE', 'The form has more files than this route takes'],
  FST_FIELDS_LIMIT: ['IQA_INPUT_TOO_LARGE', 'The form has more fields than this route takes'],
  FST_PROTO_VIOLATION: ['IQA_INPUT_INVALID', 'This field name is not allowed'],
  FST_INVALID_MULTIPART_CONTENT_TYPE: ['IQA_INPUT_MEDIA_TYPE', 'Expected multipart/form-data with a boundary'],
  FST_INVALID_JSON_FIELD_ERROR: ['IQA_INPUT_INVALID', 'A field declared as JSON is not valid JSON'],
  FST_MP_PREMATURE_CLOSE: ['IQA_INPUT_MALFORMED', 'The request ended before the form did'],
};

export function translateError(error: unknown, request: FastifyRequest): IqaError {
  if (error instanceof IqaError) return error;
  if (error instanceof ValidationError)
    return new IqaError('IQA_INPUT_INVALID', error.issues.map((issue) => issue.message).join('; '), {
      issues: error.issues,
    });
  const { code, statusCode } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new IqaError(
      'IQA_INPUT_MEDIA_TYPE',
      `Expected multipart/form-data or application/json but received ${request.headers['content-type']?.slice(0, 100) ?? 'no content type'}`,
      { cause: error },
    );
  }
  const known = FRAMEWORK_ERRORS[code ?? ''];
  if (known) return new IqaError(known[0], known[1], { cause: error });
  // Whatever a client sends wrong below us (a broken form, a bad URL) is a 4xx; its wording is the parser's.
  if ((statusCode !== undefined && statusCode >= 400 && statusCode < 500) || isFormError(error)) {
    return new IqaError('IQA_INPUT_MALFORMED', `The request cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return new IqaError('IQA_INTERNAL', 'Something went wrong on our side; the request id finds it in the logs', {
    cause: error,
  });
}

/** The form parser throws plain errors. */
function isFormError(error: unknown): boolean {
  return (
    error instanceof Error && /Multipart|boundary|Unexpected end of form|Malformed part header/i.test(error.message)
  );
}

/** Remembers every route, so that a known path with another method is answered with 405 and the allowed ones. */
function watchRoutes(app: FastifyInstance): (path: string) => string[] {
  const routes: { pattern: RegExp; methods: string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    if (url.includes('*')) return;
    routes.push({
      pattern: new RegExp(`^${url.replaceAll(/[.]/g, '\\.').replaceAll(/:\w+/g, '[^/]+')}$`),
      methods: [method].flat(),
    });
  });
  return (path) =>
    [...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))].sort();
}

const pathOf = (request: FastifyRequest): string => (request.url.split('?')[0] ?? '').slice(0, 200);

/** What is no HTTP at all never reaches a route; it is answered on the bare socket, as a problem too. */
export function refuseBrokenRequest(this: FastifyInstance, error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const requestId = randomUUID();
  const known =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? new IqaError('IQA_INPUT_TIMEOUT', 'The request did not arrive in time')
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? new IqaError('IQA_INPUT_TOO_LARGE', 'The headers are larger than this service takes')
        : new IqaError('IQA_INPUT_MALFORMED', 'The request is not valid HTTP');
  this.log.info({ request_id: requestId, code: known.code, reason: error.code }, 'Request refused');
  const body = JSON.stringify(problemOf(known, requestId));
  const head = [
    `HTTP/1.1 ${known.status} ${STATUS_CODES[known.status] ?? ''}`,
    'Content-Type: application/problem+json',
    `X-Request-Id: ${requestId}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
