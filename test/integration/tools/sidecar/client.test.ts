// The sidecar client against the real sidecar, and against servers that violate the contract.
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import type { MeasureEvent } from '../../../../schemas/sidecar.ts';
import { createSidecarClient, type MeasureCall } from '../../../../src/tools/sidecar/client.ts';
import { testSidecar } from '../../../support/app.ts';
import { makeImage } from '../../../support/images/images.ts';
import { until } from '../../../support/system/service.ts';
import { makeTempFolder } from '../../../support/temp-folder.ts';

const image = await makeImage({ width: 256, height: 256 }).png().toBuffer();
const path = join(await makeTempFolder(t), 'image.png');
writeFileSync(path, image);
const file = { path, bytes: image.length, field: 'image' };
const call = (
  changes: Partial<MeasureCall['header']> = {},
  reference: MeasureCall['reference'] = null,
): MeasureCall => ({
  header: {
    request_id: 'test',
    regions: {},
    measurements: [],
    tools: [],
    jpeg_quality: null,
    tool_timeout_ms: 10_000,
    ...changes,
  },
  image: file,
  reference,
});
const neverAborted = new AbortController().signal;

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
  const events = await collect(
    client.measure(
      call(
        {
          regions: { half: [0, 0, 200, 200] },
          measurements: ['Global', 'half'],
          tools: [
            { name: 'PSNR', region: 'Global', map: false },
            { name: 'NIQE', region: 'half', map: false },
            { name: 'SSIM', region: 'half', map: true },
          ],
        },
        file,
      ),
      neverAborted,
    ),
  );
  t.strictSame(
    events.map((event) => event.event),
    ['image', 'measurements', 'measurements', 'tool', 'tool', 'tool', 'end'],
  );
  t.match(events[3], { tool: 'PSNR', value: 100, error: null, version: String });
  t.match(events[5], { tool: 'SSIM', region: 'half', value: 1, map: { media_type: 'image/png', base64: String } });
  await t.rejects(
    collect(client.measure(call({ tools: [{ name: 'MAGIC', region: 'Global', map: false }] }), neverAborted)),
    { code: 'IQA_TOOL_FAILED', message: /UNKNOWN_TOOL/ },
  );
});

t.test('a grid holds the mean badness of each ninth of the map', async (t) => {
  const client = createSidecarClient(await testSidecar(t));
  t.teardown(() => client.close());
  const regions = { part: [10, 20, 150, 101] };
  const tools = ['SSIM', 'edge_width_px', 'noise_sigma'].flatMap((name) =>
    ['Global', 'part'].map((region) => ({ name, region, map: true, grid: true })),
  );
  const events = await collect(client.measure(call({ regions, tools }, await writeBlurred()), neverAborted));
  const results = events.filter((event) => event.event === 'tool');
  t.equal(results.length, tools.length);
  for (const { tool, region, map, grid } of results)
    t.strictSame(grid, await reduceMap(Buffer.from(map?.base64 ?? '', 'base64')), `${tool} ${region}`);
  t.ok(
    results.some(({ grid }) => grid?.some((value) => value > 0)),
    'not all zero',
  );
});

async function writeBlurred() {
  const blurred = await sharp(image).blur(3).png().toBuffer();
  const reference = `${path}.reference`;
  writeFileSync(reference, blurred);
  return { path: reference, bytes: blurred.length, field: 'reference' };
}

/** Each pixel of the map counts for the ninth in which its centre lies; 255 is perfect. */
async function reduceMap(png: Buffer): Promise<number[]> {
  const { data, info } = await sharp(png).greyscale().raw().toBuffer({ resolveWithObject: true });
  const cells = Array.from({ length: 9 }, () => ({ sum: 0, count: 0 }));
  const third = (at: number, side: number) => Math.min(2, Math.floor((3 * (at + 0.5)) / side));
  for (let at = 0; at < info.width * info.height; at += 1) {
    const cell = cells[third(Math.floor(at / info.width), info.height) * 3 + third(at % info.width, info.width)]!;
    cell.sum += 255 - data[at * info.channels]!;
    cell.count += 1;
  }
  return cells.map(({ sum, count }) => Math.round((sum / Math.max(1, count) / 255) * 1e4) / 1e4);
}

t.test('an abort ends the call immediately and closes the connection', async (t) => {
  let closed = false;
  const client = await connectTo(t, (request, response) => {
    request.resume();
    response.writeHead(200);
    response.flushHeaders();
    response.on('close', () => {
      closed = true;
    });
  });
  const controller = new AbortController();
  const running = collect(client.measure(call(), controller.signal));
  setTimeout(() => {
    controller.abort(new Error('cancelled'));
  }, 50);
  await t.rejects(running, { message: 'cancelled' });
  await until(() => closed);
  t.pass('the connection was closed');
});

t.test('broken replies are never input errors', async (t) => {
  const replies: [string, RequestListener, { code: string; message?: RegExp; retryAfter?: number }][] = [
    [
      'cut off',
      reply(200, '{"event":"image","contract":1,"width":1,"height":1,"channels":3,"queue_ms":0,"decode_ms":0}\n'),
      { code: 'IQA_TOOL_UNAVAILABLE', message: /cut off/ },
    ],
    ['not JSON', reply(200, 'hello\n'), { code: 'IQA_TOOL_FAILED', message: /contract 1/ }],
    ['another contract', reply(200, '{"event":"image","contract":2}\n'), { code: 'IQA_TOOL_FAILED' }],
    [
      'failed midway',
      reply(200, '{"event":"error","error":{"code":"INTERNAL","message":"lost"}}\n'),
      { code: 'IQA_TOOL_FAILED', message: /lost/ },
    ],
    [
      'busy',
      reply(503, '{"error":{"code":"BUSY","message":"queue full"}}', { 'retry-after': '3' }),
      { code: 'IQA_BUSY', retryAfter: 3 },
    ],
    [
      'undecodable image',
      reply(422, '{"error":{"code":"UNDECODABLE_IMAGE","message":"x"}}'),
      { code: 'IQA_INPUT_IMAGE', message: /for image/ },
    ],
    [
      'undecodable reference',
      reply(422, '{"error":{"code":"UNDECODABLE_REFERENCE","message":"x"}}'),
      { code: 'IQA_INPUT_IMAGE', message: /for reference/ },
    ],
    ['an error page of a proxy', reply(502, '<html>Bad gateway</html>'), { code: 'IQA_TOOL_FAILED' }],
    [
      'closes the connection',
      (request) => {
        request.socket.destroy();
      },
      { code: 'IQA_TOOL_UNAVAILABLE' },
    ],
  ];
  for (const [name, listener, expected] of replies) {
    const client = await connectTo(t, listener);
    await t.rejects(collect(client.measure(call(), neverAborted)), expected, name);
  }
});

t.test('probes', async (t) => {
  const silent = await connectTo(t, () => undefined);
  await t.rejects(silent.health(), { code: 'IQA_TOOL_UNAVAILABLE', message: /in time/ });
  let asked = 0;
  const flaky = await connectTo(t, (request, response) => {
    asked += 1;
    reply(
      asked === 1 ? 500 : 200,
      asked === 1
        ? '{"error":{"code":"INTERNAL","message":"x"}}'
        : JSON.stringify({
            contract: 1,
            engine: '9',
            tools: [],
            measurements: { version: '1', catalogue: [] },
            limits: { max_bytes: 1, max_pixels: 1, max_regions: 1, max_tools: 1 },
          }),
    )(request, response);
  });
  await t.rejects(flaky.tools(), { code: 'IQA_TOOL_FAILED' });
  t.match(await flaky.tools(), { engine: '9' }, 'a failure is not cached');
  await flaky.tools();
  t.equal(asked, 2, 'a success is cached');
});

t.test('it uses the new address of a restarted sidecar', async (t) => {
  const first = await listen(
    t,
    reply(200, '{"status":"ok","contract":1,"workers":{"total":1,"busy":0},"queue":{"waiting":0,"limit":1}}'),
  );
  const origins: (string | null)[] = [null, first];
  let at = 0;
  const client = createSidecarClient(() => origins[at] ?? null);
  t.teardown(() => client.close());
  await t.rejects(client.health(), { code: 'IQA_TOOL_UNAVAILABLE', message: /starting or restarting/ });
  at = 1;
  await client.health();
});

function reply(status: number, body: string, headers: Record<string, string> = {}): RequestListener {
  return (request: IncomingMessage, response) => {
    request.resume().on('end', () => {
      response.writeHead(status, headers).end(body);
    });
  };
}

async function listen(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function connectTo(t: Test, listener: RequestListener) {
  const origin = await listen(t, listener);
  const client = createSidecarClient(() => origin);
  t.teardown(() => client.close());
  return client;
}
