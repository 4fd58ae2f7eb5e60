// Runs that end early: the client disconnects, the deadline passes, the sidecar is slow or busy. The sidecar's connections are watched.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import type { Problem } from '../../../schemas/responses/problem.ts';
import { createSpool } from '../../../src/uploads/spool.ts';
import { buildTestApp, compareRequest, formRequest, type TestAppOptions } from '../../support/app.ts';
import { makeImage } from '../../support/images/images.ts';
import { slowSidecar } from '../../support/sidecar/slow-sidecar.ts';
import { until } from '../../support/system/service.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';

const png = await makeImage({ width: 64, height: 64 }).png().toBuffer();
/** A quarter of the time is reserved for the summarizer: enough on a busy machine. */
const withShortDeadline: NonNullable<TestAppOptions['adjust']> = (config) => ({
  ...config,
  pipeline: { ...config.pipeline, timeouts_ms: { ...config.pipeline.timeouts_ms, request: 6_000 } },
});

/** Never responds; counts the calls and the closed connections. */
async function countingSidecar(t: Test) {
  const calls = { measuring: 0, stopped: 0 };
  const origin = await slowSidecar(t, (response) => {
    calls.measuring += 1;
    response.on('close', () => {
      calls.stopped += 1;
    });
  });
  return { origin, calls };
}

t.test('a client that disconnects stops the call to the sidecar, and its files are removed', async (t) => {
  const { origin, calls } = await countingSidecar(t);
  const { app, spool, logs } = await buildTestApp(t, { origin: () => origin });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const controller = new AbortController();
  const { payload, headers } = await formRequest({ image: png });
  const asking = fetch(`${address}/assess`, {
    method: 'POST',
    body: new Uint8Array(payload as Buffer),
    headers: headers as Record<string, string>,
    signal: controller.signal,
  });
  await until(() => calls.measuring > 0);
  controller.abort();
  await t.rejects(asking);
  await until(() => calls.stopped === calls.measuring);
  await until(() => readdirSync(spool.dir).length === 0);
  t.notOk(
    logs.some((line) => Number(line['level']) >= 50),
    'a disconnect is not logged as an error',
  );
  t.ok(logs.some((line) => line['msg'] === 'Client disconnected'));
});

t.test('a client that disconnects during a comparison stops all of its runs, and its files are removed', async (t) => {
  const { origin, calls } = await countingSidecar(t);
  const { app, spool, logs } = await buildTestApp(t, { origin: () => origin });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const controller = new AbortController();
  const images = await Promise.all(
    [1, 2, 3, 4].map((seed) => makeImage({ width: 64, height: 64, seed }).png().toBuffer()),
  );
  const { payload, headers } = await compareRequest({ images });
  const asking = fetch(`${address}/compare`, {
    method: 'POST',
    body: new Uint8Array(payload as Buffer),
    headers: headers as Record<string, string>,
    signal: controller.signal,
  });
  await until(() => calls.measuring >= 2);
  t.match(
    (await app.inject('/ready')).json<{ load?: object }>().load,
    { running: 2, waiting: 0 },
    'two images run in two slots',
  );
  controller.abort();
  await t.rejects(asking);
  await until(() => calls.stopped === calls.measuring);
  await until(() => readdirSync(spool.dir).length === 0);
  await until(async () => (await app.inject('/ready')).json<{ load?: { running: number } }>().load?.running === 0);
  t.equal(calls.measuring, 2, 'the other two never started');
  t.notOk(
    logs.some((line) => Number(line['level']) >= 50),
    'a disconnect is not logged as an error',
  );
});

t.test('a file that is still being written when its request ends is removed', async (t) => {
  const spool = await createSpool(await makeTempFolder(t));
  t.teardown(() => spool.close());
  const session = spool.open();
  const writing = session.produce(async (path) => {
    await session.close();
    writeFileSync(path, 'late');
  });
  await writing;
  t.strictSame(readdirSync(spool.dir), []);
});

t.test('files of killed processes are removed at the next start, those of running processes are not', async (t) => {
  const parent = await makeTempFolder(t);
  const alive = await createSpool(parent);
  const dead = alive.dir.replace(`-${process.pid}-`, '-999999999-');
  mkdirSync(dead);
  writeFileSync(join(dead, 'image'), 'private');
  mkdirSync(join(parent, 'something-else'));
  const next = await createSpool(parent);
  t.strictSame(readdirSync(parent).sort(), [basename(alive.dir), basename(next.dir), 'something-else'].sort());
});

t.test('invalid HTTP and oversized headers are problems too', async (t) => {
  const { app } = await buildTestApp(t, { origin: () => null });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const talk = (text: string) =>
    new Promise<string>((resolve) => {
      let answer = '';
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      socket
        .on('data', (chunk: Buffer) => {
          answer += chunk.toString();
        })
        .on('close', () => {
          resolve(answer);
        });
    });
  t.match(
    await talk('HELLO\r\n\r\n'),
    /^HTTP\/1\.1 400 [^]*application\/problem\+json[^]*X-Request-Id: [^]*"IQA_INPUT_MALFORMED"/,
  );
  t.match(
    await talk(`GET /health HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(40_000)}\r\n\r\n`),
    /"IQA_INPUT_TOO_LARGE"/,
  );
});

t.test(
  'a sidecar that never responds is a failed tool in the log and not a 504, and the call is stopped',
  async (t) => {
    let stopped = false;
    const origin = await slowSidecar(t, (response) => {
      response.on('close', () => {
        stopped = true;
      });
    });
    const { app } = await buildTestApp(t, { origin: () => origin, adjust: withShortDeadline });
    const response = await app.inject(await formRequest({ image: png }));
    t.equal(response.statusCode, 200, response.body);
    const { executor_evidence: evidence, quality_score: score, metadata } = response.json<Assessment>();
    t.match(evidence, { distortion_set: null, quality_scores: null, tool_logs: [{ error: String }] });
    t.equal(score, null, 'no default score');
    t.ok(metadata.degraded);
    await until(() => stopped);
  },
);

t.test('a busy sidecar is 503 with its own Retry-After', async (t) => {
  const origin = await slowSidecar(t, (response) => {
    response.writeHead(503, { 'retry-after': '7' }).end('{"error":{"code":"BUSY","message":"queue full"}}');
  });
  const { app } = await buildTestApp(t, { origin: () => origin });
  const response = await app.inject(await formRequest({ image: png }));
  t.match(response.json<Problem>(), { status: 503, code: 'IQA_BUSY' });
  t.equal(response.headers['retry-after'], '7');
});

t.test('a sidecar that closes the connection while measuring is 503', async (t) => {
  const origin = await slowSidecar(t, (response) => {
    response.destroy();
  });
  const { app } = await buildTestApp(t, { origin: () => origin });
  const response = await app.inject(await formRequest({ image: png }));
  t.match(response.json<Problem>(), { status: 503, code: 'IQA_TOOL_UNAVAILABLE' });
});
