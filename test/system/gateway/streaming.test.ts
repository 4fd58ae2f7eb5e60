// Streaming through the gateway: events, responses and uploads; and how it stops during a response.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { fetch } from 'undici';
import { buildTestApp, formRequest } from '../../support/app.ts';
import { readEvents } from '../../support/events.ts';
import { gatewayIsMissing, startGateway, type Gateway } from '../../support/system/gateway.ts';
import { makeImage } from '../../support/images/images.ts';
import { until } from '../../support/system/service.ts';
import { slowSidecar } from '../../support/sidecar/slow-sidecar.ts';

/** An upstream server whose responses the test writes. */
async function startUpstream(
  t: Test,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An open event stream that the test writes to. */
async function openStream(
  t: Test,
): Promise<{ gateway: Gateway; upstream: () => ServerResponse; answer: Awaited<ReturnType<typeof fetch>> }> {
  let opened: ServerResponse | null = null;
  const address = await startUpstream(t, (_request, response) => {
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .write('event: stage\ndata: {"stage":"planner"}\n\n');
    opened = response;
  });
  const gateway = await startGateway(t, address);
  const answer = await fetch(`${gateway.address}/assess`, {
    method: 'POST',
    body: 'x',
    headers: { accept: 'text/event-stream' },
    dispatcher: gateway.dispatcher,
  });
  return { gateway, answer, upstream: () => opened as unknown as ServerResponse };
}

t.test('each event arrives before the next one is sent', { skip: gatewayIsMissing }, async (t) => {
  const { answer, upstream } = await openStream(t);
  t.equal(answer.headers.get('content-type'), 'text/event-stream');
  const reader = answer.body!.getReader();
  const read = async () => Buffer.from((await reader.read()).value as Uint8Array).toString();
  t.match(await read(), /planner/, 'before the response has ended');
  for (const tool of ['NIQE', 'SSIM', 'PSNR']) {
    upstream().write(`event: tool\ndata: {"tool":"${tool}"}\n\n`);
    t.match(await read(), new RegExp(tool));
  }
  upstream().end('event: result\ndata: {}\n\n');
  t.match(await read(), /result/);
  t.ok((await reader.read()).done);
});

t.test('events of the real service arrive while its tools are still running', { skip: gatewayIsMissing }, async (t) => {
  const held: ServerResponse[] = [];
  const origin = await slowSidecar(t, (response) => void held.push(response));
  const { app } = await buildTestApp(t, { origin: () => origin });
  const gateway = await startGateway(t, await app.listen({ host: '127.0.0.1', port: 0 }));
  const { payload, headers } = await formRequest({
    image: await makeImage({ width: 64, height: 64 }).png().toBuffer(),
  });
  const answer = await fetch(`${gateway.address}/assess`, {
    method: 'POST',
    body: new Uint8Array(payload as Buffer),
    headers: { ...(headers as Record<string, string>), accept: 'text/event-stream' },
    dispatcher: gateway.dispatcher,
  });
  let text = '';
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  while (!text.includes('planner')) text += (await reader.read()).value ?? '';
  t.notMatch(text, /event: (result|error)/, 'the sidecar has not answered yet');
  await until(() => held.length > 0);
  for (const response of held) response.destroy();
  for (let last = await reader.read(); !last.done; last = await reader.read()) text += last.value;
  t.equal(readEvents(text).at(-1)?.event, 'error', 'the sidecar closed the connection, and that is the last event');
});

t.test(
  'the first bytes of an upload reach the service before the last are sent',
  { skip: gatewayIsMissing },
  async (t) => {
    let received = 0;
    const address = await startUpstream(t, (request, response) => {
      request
        .on('data', (chunk: Buffer) => {
          received += chunk.length;
        })
        .on('end', () => response.end(String(received)));
    });
    const gateway = await startGateway(t, address);
    const pieces = async function* () {
      yield new Uint8Array(100_000);
      await until(() => received === 100_000);
      yield new Uint8Array(100_000);
    };
    const answer = await fetch(`${gateway.address}/assess`, {
      method: 'POST',
      body: pieces(),
      duplex: 'half',
      dispatcher: gateway.dispatcher,
    });
    t.equal(await answer.text(), '200000');
  },
);

t.test('on QUIT it finishes running responses and accepts no new request', { skip: gatewayIsMissing }, async (t) => {
  const { gateway, answer, upstream } = await openStream(t);
  gateway.child.kill('SIGQUIT');
  await until(async () => (await fetch(`http://127.0.0.1:${gateway.healthPort}/health`).catch(() => null)) === null);
  upstream().end('event: result\ndata: {}\n\n');
  t.match(await answer.text(), /event: result/);
  await gateway.dispatcher.close();
  t.equal(await gateway.exited, 0);
});

t.test('HTTP/2 is offered', { skip: gatewayIsMissing }, async (t) => {
  const gateway = await startGateway(
    t,
    await startUpstream(t, (request, response) => response.end(request.headers['x-forwarded-proto'])),
  );
  const session = connectHttp2(gateway.address, { rejectUnauthorized: false });
  t.teardown(() => session.destroy());
  const stream = session.request({ ':path': '/tools' });
  const [headers] = (await once(stream, 'response')) as [Record<string, string>];
  t.equal(headers[':status'], 200);
  t.equal(String((await once(stream, 'data'))[0]), 'https');
});
