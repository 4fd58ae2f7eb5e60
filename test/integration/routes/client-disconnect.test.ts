// A client that hangs up while a tool runs: the run stops down to the sidecar's worker, for forms, JSON and streams alike.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { superviseSidecar } from '../../../src/tools/sidecar/supervisor.ts';
import { buildTestApp, captureLog, formRequest, sidecarCommand } from '../../support/app.ts';
import { makePicture } from '../../support/images.ts';
import { until } from '../../support/service.ts';

interface Health {
  workers: { replaced: number };
}

t.test('the worker is freed long before its tool would have ended', async (t) => {
  const folder = t.testdir();
  const marks = () => (existsSync(join(folder, 'slow')) ? readFileSync(join(folder, 'slow'), 'utf8').length : 0);
  Object.assign(process.env, { IQA_SIDECAR_EXTRA_TOOLS: 'tests.slow_tools', IQA_TEST_MARKS: folder });
  const supervisor = superviseSidecar(sidecarCommand(['--workers', '1']), captureLog().log);
  t.teardown(() => supervisor.stop());
  await supervisor.started;
  const health = async () => (await (await fetch(`${supervisor.origin() ?? ''}/v1/health`)).json()) as Health;
  const { app, logs } = await buildTestApp(t, { origin: supervisor.origin });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const times: number[] = [];
  for (const accept of [
    'application/json',
    'text/event-stream',
    'application/json',
    'text/event-stream',
    'application/json',
  ]) {
    const image = await makePicture({ width: 256, height: 256, seed: times.length }).png().toBuffer();
    const { payload, headers } = await formRequest({ image, query: 'Use NIQE to rate this image.' });
    const controller = new AbortController();
    const asking = fetch(`${address}/assess`, {
      method: 'POST',
      body: new Uint8Array(payload as Buffer),
      headers: { ...(headers as Record<string, string>), accept },
      signal: controller.signal,
    }).then((response) => response.text());
    asking.catch(() => undefined);
    // The worker is deep in the slow tool.
    await until(() => marks() > times.length);
    const started = performance.now();
    controller.abort();
    await t.rejects(asking);
    // Gone with its tool: the worker that stands in its place is a new one.
    while ((await health()).workers.replaced <= times.length) await new Promise((resolve) => setTimeout(resolve, 2));
    times.push(performance.now() - started);
  }
  // Of the minute that the tool would have slept.
  t.ok(Math.max(...times) < 20_000, `${times.map((time) => time.toFixed(1)).join(', ')} ms`);
  t.notOk(
    logs.some((line) => Number(line['level']) >= 50),
    'a hang-up is no error of ours',
  );
});
