// The gateway in front of the real service: same answers, limits, request ids, and errors in one format.
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import t, { type Test } from 'tap';
import { fetch, type RequestInit } from 'undici';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import type { Problem } from '../../../schemas/responses/problem.ts';
import { projectRoot } from '../../../src/config/config.ts';
import { ERROR_KINDS, type ErrorCode } from '../../../src/errors.ts';
import { computeBodyLimit } from '../../../src/uploads/plugin.ts';
import { buildTestApp, formRequest } from '../../support/app.ts';
import { gatewayIsMissing, refuseGateway, startGateway, type Gateway } from '../../support/system/gateway.ts';
import { makeImage } from '../../support/images/images.ts';
import { until } from '../../support/system/service.ts';

const UNREACHABLE = 'http://127.0.0.1:9';
const MAX_UPLOAD_BYTES = 200_000;
const MAX_BODY_BYTES = computeBodyLimit(MAX_UPLOAD_BYTES);
const limits = { IQA_MAX_UPLOAD_BYTES: String(MAX_UPLOAD_BYTES) };
const template = readFileSync(join(projectRoot(), 'gateway/nginx.conf.template'), 'utf8');
const image = await makeImage({ width: 256, height: 192 }).jpeg().toBuffer();

async function buildUpload(
  image: Buffer,
): Promise<{ method: string; body: Uint8Array; headers: Record<string, string> }> {
  const { payload, headers } = await formRequest({ image });
  return { method: 'POST', body: new Uint8Array(payload as Buffer), headers: headers as Record<string, string> };
}

const ask = (gateway: Gateway, path: string, init: RequestInit = {}) =>
  fetch(`${gateway.address}${path}`, { dispatcher: gateway.dispatcher, ...init });

async function startBoth(t: Test, environment: Record<string, string> = {}) {
  const { app, logs, spool } = await buildTestApp(t, { environment: limits });
  const direct = await app.listen({ host: '127.0.0.1', port: 0 });
  const gateway = await startGateway(t, direct, { ...limits, ...environment });
  return { direct, gateway, logs, spool };
}

/** The assessment without the fields that differ between runs. */
function removeVolatile(assessment: Assessment): unknown {
  const volatile = ['id', 'request_id', 'timings_ms', 'cache', 'execution_time', 'timestamp', 'cached'];
  return JSON.parse(JSON.stringify(assessment, (key, value: unknown) => (volatile.includes(key) ? 'differs' : value)));
}

t.test('the real service behind it', { skip: gatewayIsMissing }, async (t) => {
  const { direct, gateway, logs, spool } = await startBoth(t);
  const upload = await buildUpload(image);

  await t.test('an upload through TLS gets the same answer as without a gateway', async (t) => {
    const [through, without] = [await ask(gateway, '/assess', upload), await fetch(`${direct}/assess`, upload)];
    t.equal(through.status, 200);
    t.equal(through.headers.get('content-type'), without.headers.get('content-type'));
    t.strictSame(
      removeVolatile((await through.json()) as Assessment),
      removeVolatile((await without.json()) as Assessment),
    );
  });

  await t.test('a request id is passed on; an unsafe one is replaced by the same new id everywhere', async (t) => {
    for (const sent of ['trace:4711.a-b_c', 'x\tnot this', 'y'.repeat(200)]) {
      const answer = await ask(gateway, '/assess', { ...upload, headers: { ...upload.headers, 'x-request-id': sent } });
      const id = answer.headers.get('x-request-id') ?? '';
      t.equal(id === sent, sent.startsWith('trace'), sent.slice(0, 20));
      t.equal(((await answer.json()) as Assessment).metadata.request_id, id);
      t.ok(
        logs.some((line) => line['request_id'] === id && line['msg'] === 'Request finished'),
        'in the log of the service',
      );
      await until(() => gateway.logs().some((line) => line['request_id'] === id && line['status'] === 200));
    }
  });

  await t.test('errors of the service pass unchanged', async (t) => {
    const answer = await ask(gateway, '/tools/NOTHING?secret=1', { headers: { 'x-request-id': 'abc' } });
    t.equal(answer.headers.get('content-type'), 'application/problem+json');
    t.match(await answer.json(), { status: 404, code: 'IQA_INPUT_NOT_FOUND', detail: /NOTHING/, request_id: 'abc' });
    await until(() => gateway.logs().some((line) => line['path'] === '/tools/NOTHING'));
    t.notMatch(JSON.stringify(gateway.logs()), /secret/, 'query strings are not logged');
    const tooLarge = await ask(gateway, '/assess', await buildUpload(Buffer.alloc(MAX_UPLOAD_BYTES + 1, 1)));
    t.match(await tooLarge.json(), { status: 413, detail: /Expected at most 0.2 MB for image/ });
    const wrongType = await ask(gateway, '/assess', {
      method: 'POST',
      body: new Uint8Array(1_300_000),
      headers: { 'content-type': 'text/plain' },
    });
    t.match(
      await wrongType.json(),
      { status: 415, code: 'IQA_INPUT_MEDIA_TYPE' },
      'also an error that is sent before the upload has ended',
    );
  });

  await t.test("a body beyond the service's limit is 413, announced or not", async (t) => {
    const large = new Uint8Array(MAX_BODY_BYTES + 1);
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const pieces = async function* () {
      for (let at = 0; at < large.length; at += 50_000) yield large.subarray(at, at + 50_000);
    };
    for (const body of [large, pieces()]) {
      const answer = await ask(gateway, '/assess', { method: 'POST', body, headers, duplex: 'half' });
      await checkProblem(t, answer, 'IQA_INPUT_TOO_LARGE');
    }
    const fits = await ask(gateway, '/assess', { method: 'POST', body: large.subarray(1), headers });
    t.not(
      ((await fits.json()) as Problem).detail.includes('ordinary headers'),
      true,
      'one byte less reaches the service',
    );
  });

  await t.test('invalid requests are problems too', async (t) => {
    await checkProblem(t, await ask(gateway, `/${'x'.repeat(40_000)}`), 'IQA_INPUT_TOO_LARGE');
    await checkProblem(
      t,
      await ask(gateway, '/health', { headers: { 'x-long': 'x'.repeat(12_000) } }),
      'IQA_INPUT_TOO_LARGE',
    );
    t.match(
      await sendRaw(gateway, 'HELLO\r\n\r\n'),
      /^HTTP\/1\.1 400 [^]*application\/problem\+json[^]*"IQA_INPUT_MALFORMED"/,
    );
    t.match(await sendRaw(gateway, 'TRACE / HTTP/1.1\r\nHost: x\r\n\r\n'), /^HTTP\/1\.1 400 [^]*"IQA_INPUT_MALFORMED"/);
    await checkProblem(t, await ask(gateway, '/metrics'), 'IQA_INPUT_NOT_FOUND');
  });

  await t.test('probes are answered and not logged, headers are set, plain HTTP is redirected to TLS', async (t) => {
    for (const path of ['/health', '/ready']) t.equal((await ask(gateway, path)).status, 200);
    const docs = await ask(gateway, '/docs/static/index.html');
    t.match(Object.fromEntries(docs.headers), {
      'strict-transport-security': 'max-age=31536000',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'content-security-policy': /frame-ancestors 'none'/,
      'referrer-policy': 'no-referrer',
      server: 'nginx',
    });
    const redirect = await fetch(`${gateway.plainAddress}/docs?a=1`, { redirect: 'manual' });
    t.equal(redirect.status, 308);
    t.equal(redirect.headers.get('location'), 'https://127.0.0.1/docs?a=1');
    await until(() => gateway.logs().some((line) => line['path'] === '/docs/static/index.html'));
    t.notOk(gateway.logs().some((line) => line['path'] === '/ready'));
  });

  await t.test('the service notices when a client disconnects', async (t) => {
    const before = logs.length;
    const socket = connectTls({
      host: 'localhost',
      port: Number(new URL(gateway.address).port),
      rejectUnauthorized: false,
    });
    socket.write(
      `POST /assess HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${upload.headers['content-type'] ?? ''}\r\nContent-Length: ${upload.body.length}\r\n\r\n`,
    );
    socket.write(upload.body.subarray(0, 1000));
    // After the first bytes have arrived.
    await until(() => readdirSync(spool.dir).length > 0);
    socket.destroy();
    await until(() => logs.slice(before).some((line) => line['msg'] === 'Client disconnected'));
    t.pass('the service noticed');
  });
});

t.test(
  'a service that is down, a service that does not respond, and too many requests at once',
  { skip: gatewayIsMissing },
  async (t) => {
    const silent = await listenSilently(t);
    const [down, slow] = [
      await startGateway(t, UNREACHABLE),
      await startGateway(t, silent.address, { GATEWAY_READ_TIMEOUT: '5s', GATEWAY_CONNECTIONS_PER_ADDRESS: '2' }),
    ];
    const refused = await ask(down, '/assess', await buildUpload(image));
    t.equal(refused.headers.get('retry-after'), '5');
    t.equal(refused.headers.get('x-content-type-options'), 'nosniff');
    await checkProblem(t, refused, 'IQA_GATEWAY_UNREACHABLE');
    await checkProblem(t, await ask(slow, '/tools'), 'IQA_GATEWAY_TIMEOUT');

    const waiting = [ask(slow, '/tools'), ask(slow, '/tools')];
    await until(() => silent.connections() >= 3);
    const third = await ask(slow, '/tools');
    t.equal(third.headers.get('retry-after'), '1');
    await checkProblem(t, third, 'IQA_BUSY');
    await Promise.all(waiting);
  },
);

t.test('without TLS it serves plain HTTP and sends no HSTS header', { skip: gatewayIsMissing }, async (t) => {
  const { gateway } = await startBoth(t, { GATEWAY_TLS: 'off' });
  const answer = await ask(gateway, '/assess', await buildUpload(image));
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('strict-transport-security'), null);
  t.match(await answer.json(), { summarizer_result: { final_answer: String } });
});

t.test('a failed start is one clear sentence', { skip: gatewayIsMissing }, async (t) => {
  const cases: [Record<string, string>, RegExp][] = [
    [
      { GATEWAY_CERTIFICATE: '/nowhere/a.pem' },
      /^The gateway cannot start: Expected a readable file at \/nowhere\/a\.pem for TLS; mount one, or set GATEWAY_TLS=off\n$/,
    ],
    [{ GATEWAY_TLS: 'maybe' }, /Expected on or off for GATEWAY_TLS but received "maybe"/],
    [
      { GATEWAY_TLS: 'off', IQA_MAX_UPLOAD_BYTES: '25 MB' },
      /Expected an integer for IQA_MAX_UPLOAD_BYTES but received "25 MB"/,
    ],
  ];
  for (const [environment, expected] of cases) t.match(refuseGateway(environment), { status: 1, stderr: expected });
});

t.test('its errors have the codes, statuses and titles of the service', async (t) => {
  const problems = [...template.matchAll(/return (\d+) '(\{.*\})';/g)].map(([, status, body]) => ({
    status: Number(status),
    problem: JSON.parse(body ?? '') as Problem,
  }));
  t.ok(problems.length >= 7);
  for (const { status, problem } of problems) {
    t.match(
      problem,
      { type: `/errors/${problem.code}`, request_id: '$iqa_request_id', ...expectedKind(problem.code as ErrorCode) },
      problem.code,
    );
    t.equal(problem.status, status);
  }
});

function expectedKind(code: ErrorCode) {
  return { status: ERROR_KINDS[code].status, title: ERROR_KINDS[code].title };
}

async function checkProblem(t: Test, answer: Awaited<ReturnType<typeof fetch>>, code: ErrorCode): Promise<void> {
  t.equal(answer.headers.get('content-type'), 'application/problem+json');
  const problem = (await answer.json()) as Problem;
  t.match(
    problem,
    {
      type: `/errors/${code}`,
      code,
      detail: /./,
      request_id: answer.headers.get('x-request-id'),
      ...expectedKind(code),
    },
    code,
  );
  t.equal(answer.status, problem.status);
}

/** Sends raw bytes over TLS and returns the response. */
function sendRaw(gateway: Gateway, text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connectTls(
      { host: 'localhost', port: Number(new URL(gateway.address).port), rejectUnauthorized: false },
      () => socket.write(text),
    );
    socket
      .on('data', (chunk: Buffer) => {
        answer += chunk.toString();
      })
      .on('close', () => {
        resolve(answer);
      });
  });
}

/** Accepts connections and never responds. */
async function listenSilently(t: Test): Promise<{ address: string; connections: () => number }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => sockets.length };
}
