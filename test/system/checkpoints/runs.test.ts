// Checkpointed runs within one process: resuming, retention, and store failures.
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, InjectOptions } from 'fastify';
import t, { type Test } from 'tap';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import { buildApp } from '../../../src/app.ts';
import { openCheckpoints } from '../../../src/checkpoints/checkpoints.ts';
import type { CheckpointConfig } from '../../../src/checkpoints/settings.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { createSpool } from '../../../src/uploads/spool.ts';
import { createSidecarClient } from '../../../src/tools/sidecar/client.ts';
import { buildTestApp, captureLog, formRequest } from '../../support/app.ts';
import { makeFolder, STORES, type TestStore } from '../../support/system/checkpoint-stores.ts';
import { makeImage } from '../../support/images/images.ts';
import { until } from '../../support/system/service.ts';
import { watchSidecar, type WatchedSidecar } from '../../support/sidecar/sidecar-spy.ts';

const png = await makeImage({ width: 200, height: 200 }).png().toBuffer();

async function formWithId(id: string, image: Buffer = png): Promise<InjectOptions> {
  const request = await formRequest({ image });
  return { ...request, headers: { ...(request.headers as Record<string, string>), 'x-assessment-id': id } };
}

interface TestService {
  app: FastifyInstance;
  logs: Record<string, unknown>[];
  assess: (id?: string, image?: Buffer) => Promise<{ status: number; body: Assessment; retryAfter: unknown }>;
  resume: (id: string) => Promise<{ status: number; body: Assessment; retryAfter: unknown }>;
}

async function open(
  t: Test,
  store: TestStore,
  sidecar: WatchedSidecar,
  change: Partial<CheckpointConfig> = {},
): Promise<TestService> {
  const config = loadConfig(store.environment);
  const { log, logs } = captureLog();
  const spool = await createSpool(makeFolder(t));
  const client = createSidecarClient(() => sidecar.origin);
  const app = await buildApp(
    { ...config, checkpoints: { ...config.checkpoints, ...change } },
    { log, spool, sidecar: client },
  );
  t.teardown(async () => {
    await app.close();
    await client.close();
    await spool.close();
  });
  const ask = async (options: InjectOptions) => {
    const response = await app.inject(options);
    return {
      status: response.statusCode,
      body: response.json<Assessment>(),
      retryAfter: response.headers['retry-after'],
    };
  };
  return {
    app,
    logs,
    assess: async (id = randomUUID(), image = png) => ask(await formWithId(id, image)),
    resume: (id) => ask({ method: 'POST', url: `/assess/${id}/resume` }),
  };
}

async function interrupt(
  t: Test,
  service: TestService,
  sidecar: WatchedSidecar,
  id: string,
  image: Buffer = png,
): Promise<void> {
  sidecar.hold();
  const before = sidecar.measured();
  const address = service.app.server.listening
    ? service.app.listeningOrigin
    : await service.app.listen({ host: '127.0.0.1', port: 0 });
  const controller = new AbortController();
  const { payload, headers } = await formRequest({ image });
  const asking = fetch(`${address}/assess`, {
    method: 'POST',
    body: new Uint8Array(payload as Buffer),
    headers: { ...(headers as Record<string, string>), 'x-assessment-id': id },
    signal: controller.signal,
  });
  await until(() => sidecar.measured() > before);
  controller.abort();
  await t.rejects(asking);
  sidecar.release();
}

/** The lease is released shortly after the client disconnects. */
async function resumeWhenFree(service: TestService, id: string) {
  let answer = await service.resume(id);
  await until(async () => {
    if (answer.status === 409) answer = await service.resume(id);
    return answer.status !== 409;
  });
  return answer;
}

for (const kind of STORES) {
  t.test(`with ${kind.name}`, { skip: kind.skip }, async (t) => {
    const store = await kind.open(t);
    const sidecar = await watchSidecar(t);
    const first = await open(t, store, sidecar);
    const second = await open(t, store, sidecar);

    await t.test('a run in progress cannot be resumed', async (t) => {
      const id = randomUUID();
      const fresh = await makeImage({ width: 200, height: 200, seed: 2 }).png().toBuffer();
      sidecar.hold();
      const before = sidecar.measured();
      const running = first.assess(id, fresh);
      await until(() => sidecar.measured() > before);
      for (const service of [first, second]) {
        const refused = await service.resume(id);
        t.match(refused, { status: 409, body: { code: 'IQA_INPUT_RUN_ACTIVE' } });
        t.ok(Number(refused.retryAfter) >= 1);
      }
      t.match(await second.assess(id, fresh), { status: 409, body: { code: 'IQA_INPUT_ID_TAKEN' } });
      sidecar.release();
      const answer = await running;
      t.match(answer, { status: 200, body: { id } });
      t.strictSame(
        (await second.resume(id.toUpperCase())).body,
        answer.body,
        'the result of a finished run is returned',
      );
    });

    await t.test('a disconnected client resumes; of two concurrent attempts one succeeds', async (t) => {
      const id = randomUUID();
      const other = await open(t, store, sidecar);
      const fresh = await makeImage({ width: 200, height: 200, seed: 5 }).png().toBuffer();
      await interrupt(t, other, sidecar, id, fresh);
      await until(() => other.logs.some((line) => line['msg'] === 'Client disconnected'));
      await until(async () => (await store.counts()).images === 1);
      // Both start from an idle run, and neither can finish before both have tried.
      sidecar.hold();
      await store.change(`UPDATE runs SET owner = NULL, lease_until = 0 WHERE id = '${id}'`);
      const attempts = [first.resume(id), second.resume(id)];
      const refused = await Promise.race(attempts);
      t.match(refused, { status: 409, body: { code: 'IQA_INPUT_RUN_ACTIVE' } });
      sidecar.release();
      const statuses = (await Promise.all(attempts)).map(({ status }) => status).sort();
      t.strictSame(statuses, [200, 409]);
      const { quality_score, summarizer_result } = (await first.assess(randomUUID(), fresh)).body;
      t.match((await first.resume(id)).body, { id, quality_score, summarizer_result });
    });

    await t.test('under another fingerprint a run starts again; an unreadable one is removed', async (t) => {
      const id = randomUUID();
      const service = await open(t, store, sidecar);
      await interrupt(t, service, sidecar, id);
      await until(async () => (await store.counts()).images === 1);
      await store.change(`UPDATE runs SET fingerprint = 'older', owner = NULL, lease_until = 0 WHERE id = '${id}'`);
      t.match(await resumeWhenFree(second, id), { status: 200, body: { id } });
      t.match(
        second.logs.find((line) => line['assessment_id'] === id),
        { msg: 'Assessment resumed', from_the_start: true },
      );

      const lost = randomUUID();
      await interrupt(t, service, sidecar, lost);
      await until(async () => (await store.counts()).images === 1);
      await store.change(
        `UPDATE runs SET request = '{"from":"another version"}', owner = NULL, lease_until = 0 WHERE id = '${lost}'`,
      );
      t.match(await resumeWhenFree(second, lost), { status: 404, body: { code: 'IQA_INPUT_NOT_FOUND' } });
      t.equal((await store.counts()).images, 0);
    });

    await t.test('a run that can never succeed is removed; one that may succeed later is kept', async (t) => {
      const id = randomUUID();
      const damaged = Buffer.from(png);
      damaged.fill(0, Math.floor(damaged.length / 2), Math.floor(damaged.length / 2) + 40);
      t.match(await first.assess(id, damaged), { status: 422, body: { code: 'IQA_INPUT_IMAGE' } });
      t.match(await first.resume(id), { status: 404 });
      t.match(await store.counts(), { images: 0 });
    });

    await t.test('of finished runs only the result is kept, or nothing', async (t) => {
      await until(async () => (await store.counts()).stages === 0);
      const dropping = await open(t, store, sidecar, { finished: 'drop' });
      const { runs } = await store.counts();
      const id = randomUUID();
      t.match(await dropping.assess(id), { status: 200, body: { id } });
      await until(async () => (await store.counts()).runs === runs);
      t.match(await store.counts(), { stages: 0, images: 0 });
      t.match(await dropping.resume(id), { status: 404 });
    });

    await t.test('retention: too many, too large, too old, each at its limit; active runs are kept', async (t) => {
      const limits = { max_age_hours: 1, max_runs: 3, max_bytes: 1_000_000, sweep_seconds: 3600 };
      const config = { ...loadConfig(store.environment).checkpoints, retention: limits };
      for (let count = 0; count < 5; count += 1) await first.assess();
      const sweepWith = async (retention: typeof limits) => {
        const checkpoints = await openCheckpoints({ ...config, retention }, captureLog().log);
        await checkpoints.close();
        return store.counts();
      };
      t.match(await sweepWith(limits), { runs: 3 });
      t.match(await sweepWith(limits), { runs: 3 }, 'nothing more to do');
      const unfinished = randomUUID();
      await interrupt(t, await open(t, store, sidecar), sidecar, unfinished);
      await until(async () => (await store.counts()).images === 1);
      await store.change(`UPDATE runs SET owner = NULL, lease_until = 0 WHERE id = '${unfinished}'`);
      t.match(await sweepWith({ ...limits, max_runs: 100 }), { runs: 4, images: 1 });
      t.match(
        await sweepWith({ ...limits, max_runs: 100, max_bytes: 10 }),
        { runs: 3, images: 0, stages: 0 },
        'images exceed the limit; results do not count',
      );
      const active = randomUUID();
      const fresh = await makeImage({ width: 200, height: 200, seed: 3 }).png().toBuffer();
      sidecar.hold();
      const before = sidecar.measured();
      const running = first.assess(active, fresh);
      await until(() => sidecar.measured() > before);
      t.match(
        await sweepWith({ ...limits, max_age_hours: 1e-9 }),
        { runs: 1 },
        'all are too old but one is still running',
      );
      sidecar.release();
      t.match((await running).body.metadata, { degraded: false, degraded_reason: null });
    });

    await t.test('images and tables are private', { skip: process.platform === 'win32' }, async (t) => {
      const dir = store.environment['IQA_CHECKPOINTS_DIR'] ?? '';
      t.equal(statSync(join(dir, 'images')).mode & 0o777, 0o700);
      if (kind.name === 'sqlite')
        for (const file of readdirSync(dir).filter((name) => name.startsWith('checkpoints.sqlite')))
          t.equal(statSync(join(dir, file)).mode & 0o077, 0, file);
    });

    const { postgres } = store;
    if (!postgres) return;
    await t.test('a store failure during a run costs the checkpoints, not the answer', async (t) => {
      const fresh = await makeImage({ width: 200, height: 200, seed: 4 }).png().toBuffer();
      sidecar.hold();
      const before = sidecar.measured();
      const running = first.assess(randomUUID(), fresh);
      await until(() => sidecar.measured() > before && first.logs.some((line) => line['stage'] === 'planner'));
      await postgres.kill();
      sidecar.release();
      const answer = await running;
      t.match(answer, {
        status: 200,
        body: { metadata: { degraded: true, degraded_reason: /checkpoint store failed/ } },
      });
      t.ok(answer.body.quality_score, 'with its score');
      const refused = await first.assess();
      t.match(refused, { status: 503, body: { code: 'IQA_STORE_UNAVAILABLE' }, retryAfter: '5' });
      t.match(await first.resume(randomUUID()), { status: 503, body: { code: 'IQA_STORE_UNAVAILABLE' } });
      await postgres.restart();
      await until(async () => (await first.assess()).status === 200);
    });
  });
}

t.test('off by default: nothing is written, and nothing can be resumed', async (t) => {
  const dir = join(t.testdir(), 'checkpoints');
  const { app } = await buildTestApp(t, { environment: { IQA_CHECKPOINTS_DIR: dir } });
  const id = randomUUID();
  const response = await app.inject(await formWithId(id));
  t.match(response.json(), { id }, "the chosen id is the answer's all the same");
  t.notOk(existsSync(dir));
  t.match((await app.inject({ method: 'POST', url: `/assess/${id}/resume` })).json(), {
    status: 404,
    detail: /checkpoints are off/,
  });
  const bad = await app.inject(await formWithId('../etc'));
  t.match(bad.json(), { status: 422, code: 'IQA_INPUT_INVALID' });
});
