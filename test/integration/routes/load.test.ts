// Limits under load: queued requests, Retry-After, idle uploads and slow tools.
import { connect, type AddressInfo } from 'node:net';
import { readdirSync } from 'node:fs';
import t from 'tap';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import type { Problem } from '../../../schemas/responses/problem.ts';
import { superviseSidecar } from '../../../src/tools/sidecar/supervisor.ts';
import { buildTestApp, captureLog, formRequest, sidecarCommand, type TestAppOptions } from '../../support/app.ts';
import { makeImage } from '../../support/images/images.ts';
import { slowSidecar } from '../../support/sidecar/slow-sidecar.ts';
import { until } from '../../support/system/service.ts';

const images = await Promise.all(
  Array.from({ length: 24 }, (_, seed) => makeImage({ width: 64, height: 64, seed }).png().toBuffer()),
);

type Pipeline = Parameters<NonNullable<TestAppOptions['adjust']>>[0]['pipeline'];
const adjustPipeline =
  (change: (pipeline: Pipeline) => Partial<Pipeline>): NonNullable<TestAppOptions['adjust']> =>
  (config) => ({ ...config, pipeline: { ...config.pipeline, ...change(config.pipeline) } });

t.test('two running, sixteen waiting, and only the nineteenth is refused with Retry-After', async (t) => {
  const measuring: (() => void)[] = [];
  const origin = await slowSidecar(t, (response) => {
    measuring.push(() => {
      response.destroy();
    });
  });
  const { app } = await buildTestApp(t, {
    origin: () => origin,
    adjust: adjustPipeline(() => ({ admission: { running: 2, model: 0, waiting: 16 } })),
  });
  const ask = async (index: number) => app.inject(await formRequest({ image: images[index] ?? Buffer.alloc(0) }));
  const waiting = Array.from({ length: 18 }, (_, index) => ask(index));
  await until(() => measuring.length === 2);
  await until(async () => (await app.inject('/ready')).json<{ load?: { waiting: number } }>().load?.waiting === 16);
  const refused = await ask(18);
  t.match(refused.json<Problem>(), { status: 503, code: 'IQA_BUSY', detail: /2 running, 16 waiting/ });
  t.match(refused.headers['retry-after'], /^\d+$/);
  t.equal(measuring.length, 2, 'never more than two running');
  const releasing = setInterval(() => {
    for (const end of measuring.splice(0)) end();
  }, 10);
  const codes = (await Promise.all(waiting)).map((response) => response.json<Problem>().code);
  clearInterval(releasing);
  t.ok(
    codes.every((code) => code === 'IQA_TOOL_UNAVAILABLE'),
    'each was run',
  );
});

t.test('an idle upload ends with 408, and its slot and files are released', async (t) => {
  const { app, spool } = await buildTestApp(t, {
    adjust: adjustPipeline((pipeline) => ({
      admission: { running: 1, model: 0, waiting: 1 },
      timeouts_ms: { ...pipeline.timeouts_ms, upload_idle: 2_000 },
    })),
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const { payload, headers } = await formRequest({ image: images[0] ?? Buffer.alloc(0) });
  const json = JSON.stringify({ image: { base64: 'aaaa' } });
  for (const [type, body] of [
    [String((headers as Record<string, string>)['content-type']), payload as Buffer],
    ['application/json', Buffer.from(json)],
  ] as const) {
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(
          `POST /assess HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`,
        );
        socket.write(body.subarray(0, body.length - 10));
      });
      socket
        .on('data', (chunk: Buffer) => {
          text += chunk.toString();
        })
        .on('close', () => {
          resolve(text);
        });
    });
    t.match(answer, /^HTTP\/1\.1 408 [^]*"IQA_INPUT_TIMEOUT"/, type);
    await until(() => readdirSync(spool.dir).length === 0);
    await until(async () => (await app.inject('/ready')).json<{ load?: { waiting: number } }>().load?.waiting === 0);
    const next = await app.inject(await formRequest({ image: images[1] ?? Buffer.alloc(0) }));
    t.equal(next.statusCode, 200, next.body);
  }
});

t.test('a tool that exceeds its timeout fails in the log, and another one replaces it', async (t) => {
  const environment = { IQA_SIDECAR_EXTRA_TOOLS: 'tests.slow_tools' };
  const supervisor = superviseSidecar(sidecarCommand(['--workers', '1'], environment), captureLog().log);
  t.teardown(() => supervisor.stop());
  await supervisor.started;
  const { app } = await buildTestApp(t, {
    origin: supervisor.origin,
    adjust: adjustPipeline((pipeline) => ({ timeouts_ms: { ...pipeline.timeouts_ms, tool: 5_000 } })),
  });
  const image = await makeImage({ width: 256, height: 256 }).png().toBuffer();
  const response = await app.inject(await formRequest({ image, query: 'Use NIQE to rate this image.' }));
  t.equal(response.statusCode, 200, response.body);
  const { executor_evidence: evidence, quality_score: score, metadata } = response.json<Assessment>();
  const [failed, replacement] = evidence?.tool_logs ?? [];
  t.match(failed, { tool_name: 'NIQE', raw_score: null, normalized_score: null, error: /took longer than 5000 ms/ });
  t.match(replacement, { fallback: true, error: null, normalized_score: Number });
  t.ok(score);
  t.match(metadata, { degraded: true, degraded_reason: /in place of NIQE/ });
});
