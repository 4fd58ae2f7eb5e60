// A client that disconnects while a tool runs: the run stops down to the sidecar's worker, for JSON responses and event streams.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { superviseSidecar } from '../../../src/tools/sidecar/supervisor.ts';
import { buildTestApp, captureLog, formRequest, sidecarCommand } from '../../support/app.ts';
import { makeImage } from '../../support/images/images.ts';
import { until } from '../../support/system/service.ts';

interface Health {
  workers: { replaced: number };
}

/** The slow tool of the sidecar's tests sleeps for a minute. */
const WELL_BELOW_TOOL_MS = 20_000;

t.test('the worker is freed long before its tool would have ended', async (t) => {
  const folder = t.testdir();
  const countStarts = () => (existsSync(join(folder, 'slow')) ? readFileSync(join(folder, 'slow'), 'utf8').length : 0);
  const environment = { IQA_SIDECAR_EXTRA_TOOLS: 'tests.slow_tools', IQA_TEST_MARKS: folder };
  const supervisor = superviseSidecar(sidecarCommand(['--workers', '1'], environment), captureLog().log);
  t.teardown(() => supervisor.stop());
  await supervisor.started;
  const countReplacedWorkers = async () => {
    const response = await fetch(`${supervisor.origin() ?? ''}/v1/health`);
    return ((await response.json()) as Health).workers.replaced;
  };
  const { app, logs } = await buildTestApp(t, { origin: supervisor.origin });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const accepts = ['application/json', 'text/event-stream', 'application/json', 'text/event-stream'];
  for (const [index, accept] of accepts.entries()) {
    const image = await makeImage({ width: 256, height: 256, seed: index }).png().toBuffer();
    const { payload, headers } = await formRequest({ image, query: 'Use NIQE to rate this image.' });
    const controller = new AbortController();
    const response = fetch(`${address}/assess`, {
      method: 'POST',
      body: new Uint8Array(payload as Buffer),
      headers: { ...(headers as Record<string, string>), accept },
      signal: controller.signal,
    }).then((received) => received.text());
    response.catch(() => undefined);
    await until(() => countStarts() > index);
    const started = performance.now();
    controller.abort();
    await t.rejects(response);
    // A worker is stopped by replacing it.
    while ((await countReplacedWorkers()) <= index) await delay(2);
    const elapsed = performance.now() - started;
    t.ok(elapsed < WELL_BELOW_TOOL_MS, `${accept}: ${elapsed.toFixed(1)} ms`);
  }
  t.notOk(
    logs.some((line) => Number(line['level']) >= 50),
    'a disconnect is not logged as an error',
  );
});
