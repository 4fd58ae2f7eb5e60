// The sidecar client against the real sidecar, and against servers that break every promise of the contract.
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { MeasureEvent } from '../../../../schemas/sidecar.ts';
import { createSidecarClient, type MeasureCall } from '../../../../src/tools/sidecar/client.ts';
import { testSidecar } from '../../../support/app.ts';
import { makePicture } from '../../../support/images.ts';
import { until } from '../../../support/service.ts';

const picture = await makePicture({ width: 256, height: 256 }).png().toBuffer();
const path = join(t.testdir(), 'picture.png');
writeFileSync(path, picture);
const file = { path, bytes: picture.length };
const call = (changes: Partial<MeasureCall['header']> = {}, reference: MeasureCall['reference'] = null): MeasureCall => ({
  header: { request_id: 'test', regions: {}, measurements: [], tools: [], jpeg_quality: null, tool_timeout_ms: 10_000, ...changes }, image: file, reference,
});
const never = new AbortController().signal;

async function collect(events: AsyncGenerator<MeasureEvent>): Promise<MeasureEvent[]> {
  const all: MeasureEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

t.test('the real sidecar', async (t) => {
  const client = createSidecarClient(await testSidecar(t));
  t.teardown(() => client.close());
  await client.health();
  t.match(await client.tools(), { contract: 1, engine: String });
  const events = await collect(client.measure(call({
    regions: { half: [0, 0, 200, 200] }, measurements: ['Global', 'half'],
    tools: [{ name: 'PSNR', region: 'Global', map: false }, { name: 'NIQE', region: 'half', map: false }, { name: 'SSIM', region: 'half', map: true }],
  }, file), never));
  t.strictSame(events.map((event) => event.event), ['image', 'measurements', 'measurements', 'tool', 'tool', 'tool', 'end']);
  t.match(events[3], { tool: 'PSNR', value: 100, error: null, version: String });
  t.match(events[5], { tool: 'SSIM', region: 'half', value: 1, map: { media_type: 'image/png', base64: String } });
  await t.rejects(collect(client.measure(call({ tools: [{ name: 'MAGIC', region: 'Global', map: false }] }), never)), { code: 'IQA_TOOL_FAILED', message: /UNKNOWN_TOOL/ });
});

t.test('an abort ends the call at once and reaches the sidecar', async (t) => {
  let hungUp = false;
  const client = await against(t, (request, response) => {
    request.resume();
    response.writeHead(200);
    response.flushHeaders();
    response.on('close', () => { hungUp = true; });
  });
  const controller = new AbortController();
  const running = collect(client.measure(call(), controller.signal));
  setTimeout(() => { controller.abort(new Error('hung up')); }, 50);
  await t.rejects(running, { message: 'hung up' });
  await until(() => hungUp);
  t.pass('the connection was closed');
});

t.test('broken answers are never the user\'s fault', async (t) => {
  const answers: [string, RequestListener, { code: string; message?: RegExp; retryAfter?: number }][] = [
    ['cut off', answer(200, '{"event":"image","contract":1,"width":1,"height":1,"channels":3,"queue_ms":0,"decode_ms":0}\n'), { code: 'IQA_TOOL_UNAVAILABLE', message: /cut off/ }],
    ['no JSON', answer(200, 'hello\n'), { code: 'IQA_TOOL_FAILED', message: /contract 1/ }],
    ['another contract', answer(200, '{"event":"image","contract":2}\n'), { code: 'IQA_TOOL_FAILED' }],
    ['failed midway', answer(200, '{"event":"error","error":{"code":"INTERNAL","message":"lost"}}\n'), { code: 'IQA_TOOL_FAILED', message: /lost/ }],
    ['busy', answer(503, '{"error":{"code":"BUSY","message":"queue full"}}', { 'retry-after': '3' }), { code: 'IQA_BUSY', retryAfter: 3 }],
    ['undecodable image', answer(422, '{"error":{"code":"UNDECODABLE_IMAGE","message":"x"}}'), { code: 'IQA_INPUT_IMAGE', message: /for image/ }],
    ['undecodable reference', answer(422, '{"error":{"code":"UNDECODABLE_REFERENCE","message":"x"}}'), { code: 'IQA_INPUT_IMAGE', message: /for reference/ }],
    ['a proxy in between', answer(502, '<html>Bad gateway</html>'), { code: 'IQA_TOOL_FAILED' }],
    ['hangs up', (request) => { request.socket.destroy(); }, { code: 'IQA_TOOL_UNAVAILABLE' }],
  ];
  for (const [name, listener, expected] of answers) {
    const client = await against(t, listener);
    await t.rejects(collect(client.measure(call(), never)), expected, name);
  }
});

t.test('probes', async (t) => {
  const silent = await against(t, () => undefined);
  await t.rejects(silent.health(), { code: 'IQA_TOOL_UNAVAILABLE', message: /in time/ });
  let asked = 0;
  const flaky = await against(t, (request, response) => {
    asked += 1;
    answer(asked === 1 ? 500 : 200, asked === 1 ? '{"error":{"code":"INTERNAL","message":"x"}}' : JSON.stringify({
      contract: 1, engine: '9', tools: [], measurements: { version: '1', catalogue: [] }, limits: { max_bytes: 1, max_pixels: 1, max_regions: 1, max_tools: 1 },
    }))(request, response);
  });
  await t.rejects(flaky.tools(), { code: 'IQA_TOOL_FAILED' });
  t.match(await flaky.tools(), { engine: '9' }, 'a failure is not remembered');
  await flaky.tools();
  t.equal(asked, 2, 'a success is');
});

t.test('it follows a sidecar that moved', async (t) => {
  const first = await listen(t, answer(200, '{"status":"ok","contract":1,"workers":{"total":1,"busy":0},"queue":{"waiting":0,"limit":1}}'));
  const origins: (string | null)[] = [null, first];
  let at = 0;
  const client = createSidecarClient(() => origins[at] ?? null);
  t.teardown(() => client.close());
  await t.rejects(client.health(), { code: 'IQA_TOOL_UNAVAILABLE', message: /starting or restarting/ });
  at = 1;
  await client.health();
});

function answer(status: number, body: string, headers: Record<string, string> = {}): RequestListener {
  return (request: IncomingMessage, response) => {
    request.resume().on('end', () => { response.writeHead(status, headers).end(body); });
  };
}

async function listen(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => { server.closeAllConnections(); server.close(); });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function against(t: Test, listener: RequestListener) {
  const origin = await listen(t, listener);
  const client = createSidecarClient(() => origin);
  t.teardown(() => client.close());
  return client;
}
