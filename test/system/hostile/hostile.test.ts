// Hundreds of hostile files through the running service and straight at its sidecar: every answer a 2xx or 4xx, no process restarts or grows, good
// images are answered right in the middle of it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import type { Problem } from '../../../schemas/responses/problem.ts';
import { MEASURE_MEDIA_TYPE } from '../../../schemas/sidecar.ts';
import { projectRoot } from '../../../src/config/config.ts';
import { buildTestApp, formRequest } from '../../support/app.ts';
import { makeImage } from '../../support/images/images.ts';
import { groupOf, isAlive, startService, until, type Service } from '../../support/system/service.ts';
import { makeHostileFiles, type HostileFile } from './files.ts';

/** Bombs below the limit are decoded in full, those above refused: a low limit lets both be small. */
const LIMITS = { IQA_MAX_PIXELS: '3000000' };
/** As npm start sets it: glibc otherwise keeps up to 300 MB of what libvips' threads gave back. */
const ALLOCATOR = { MALLOC_ARENA_MAX: '2' };
const COLLECTING = {
  NODE_OPTIONS: `--import=${join(projectRoot(), 'test', 'support', 'system', 'collect-on-signal.mjs')}`,
};
const AT_ONCE = 6;
/** Of good images among the hostile ones. */
const EVERY = 25;
const GROWTH_MB = 150;

const files = await makeHostileFiles();
const formats = ['png', 'jpeg', 'webp', 'tiff'] as const;
const goodImage = (index: number) =>
  makeImage({ width: 160, height: 120, seed: 1_000 + index })
    .toFormat(formats[index % 4]!)
    .toBuffer();

t.test('there are at least three hundred, and the same ones each time', async (t) => {
  t.ok(files.length >= 300, `${files.length} files`);
  const again = await makeHostileFiles();
  t.ok(files.every(({ name, data }, index) => again[index]?.name === name && data.equals(again[index].data)));
  t.equal(new Set(files.map(({ name }) => name)).size, files.length, 'each has a name of its own');
});

t.test('a real service under fire', async (t) => {
  const { app: calm } = await buildTestApp(t);
  const service = await startService(t, {
    environment: { ...LIMITS, ...ALLOCATOR, ...COLLECTING, IQA_SPOOL_DIR: join(t.testdirName, 'service') },
  });
  const startLines = service.logs.length;
  const pids = [service.child.pid ?? 0, service.sidecarPid ?? 0, ...groupOf(service.sidecarPid ?? 0)];

  const good = Array.from({ length: Math.floor(files.length / EVERY) }, (_, index) => index);
  const [answers, underFire] = await Promise.all([
    fire(service, files),
    inTurn(good, 1, async (index) => strip((await assess(service, await goodImage(index))) as Assessment)),
  ]);
  const frames = await measureAll(service, files);

  await t.test('through /assess: 2xx or a 4xx with a sentence', async (t) => {
    for (const { name, expect, status, body } of answers) {
      if (
        status === 200
          ? expect !== 'refused'
          : status >= 400 && status < 500 && expect !== 'answered' && isClear(body as Problem)
      )
        continue;
      t.fail(`${name}: ${status} ${JSON.stringify(body).slice(0, 300)}`);
    }
    t.ok(
      answers.some(({ status }) => status === 200) &&
        answers.some(({ status }) => status === 413) &&
        answers.some(({ status }) => status === 415),
    );
  });

  await t.test('straight at the sidecar: the same', async (t) => {
    for (const { name, status, body } of frames) {
      if (![200, 400, 413, 422].includes(status) || /"event":"error"|INTERNAL|CRASHED|TIMEOUT|crashed/.test(body))
        t.fail(`${name}: ${status} ${body.slice(0, 300)}`);
    }
    t.pass(`${files.length} frames`);
  });

  await t.test('good images got the answers that they get in calm', async (t) => {
    for (const [index, answer] of underFire.entries()) {
      const calmly = await calm.inject(await formRequest({ image: await goodImage(index) }));
      t.strictSame(answer, strip(calmly.json()), `image ${index}`);
    }
  });

  await t.test('a second time costs no more memory', async (t) => {
    // Several good ones at a time, until every worker has loaded what it loads once.
    await inTurn(
      Array.from({ length: 4 * AT_ONCE }, (_, index) => 500 + index),
      AT_ONCE,
      async (index) => assess(service, await goodImage(index)),
    );
    const once = await memoryHeld(service);
    await fire(service, files);
    await measureAll(service, files);
    const twice = await memoryHeld(service);
    t.ok(twice <= once + GROWTH_MB, `${once} MB after the first time, ${twice} MB after the second`);
    t.comment(`memory of all processes: ${once} MB after the first time, ${twice} MB after the second`);
  });

  await t.test('no process restarted', async (t) => {
    t.ok(pids.every(isAlive), 'every process, workers included, is the one it was');
    const health = (await (await fetch(`${sidecarAddress(service)}/v1/health`)).json()) as {
      workers: { replaced: number };
    };
    t.equal(health.workers.replaced, 0);
    const fault = service.logs.slice(startLines).find((line) => Number(line['level']) >= 50);
    t.equal(fault, undefined, 'no fault in the log');
  });
});

type Answer = HostileFile & { status: number; body: unknown };

function fire(service: Service, targets: HostileFile[]): Promise<Answer[]> {
  return inTurn(targets, AT_ONCE, async (file) => ({ ...file, ...(await send(service, file.data)) }));
}

async function send(service: Service, data: Buffer): Promise<{ status: number; body: unknown }> {
  const { payload, headers } = await formRequest({ image: { data, filename: 'picture.png', type: 'image/png' } });
  const response = await fetch(`${service.address}/assess`, {
    method: 'POST',
    body: new Uint8Array(payload as Buffer),
    headers: headers as Record<string, string>,
  });
  return { status: response.status, body: await response.json() };
}

async function assess(service: Service, data: Buffer): Promise<unknown> {
  return (await send(service, data)).body;
}

async function measureAll(
  service: Service,
  targets: HostileFile[],
): Promise<{ name: string; status: number; body: string }[]> {
  return inTurn(targets, AT_ONCE, async ({ name, data }) => {
    const tools = ['NIQE', 'BRISQUE'].map((tool) => ({ name: tool, region: 'Global', map: false }));
    const header = Buffer.from(
      JSON.stringify({
        contract: 1,
        request_id: null,
        image_bytes: Math.max(1, data.length),
        reference_bytes: 0,
        regions: {},
        measurements: ['Global'],
        tools,
        jpeg_quality: null,
        tool_timeout_ms: 20_000,
      }),
    );
    const length = Buffer.alloc(4);
    length.writeUInt32BE(header.length);
    const response = await fetch(`${sidecarAddress(service)}/v1/measure`, {
      method: 'POST',
      headers: { 'content-type': MEASURE_MEDIA_TYPE },
      body: new Uint8Array(Buffer.concat([length, header, data])),
    });
    return { name, status: response.status, body: await response.text() };
  });
}

const sidecarAddress = (service: Service): string =>
  `http://127.0.0.1:${String(service.logs.findLast((line) => 'sidecar_port' in line)?.['sidecar_port'])}`;

/** At most `limit` at a time, results in order. */
async function inTurn<T, R>(items: readonly T[], limit: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: limit }, async () => {
      while (next < items.length) {
        const index = next;
        next += 1;
        results[index] = await work(items[index]!);
      }
    }),
  );
  return results;
}

/** A whole sentence that tells what was expected, without insides of ours. */
function isClear({ status, code, detail, request_id }: Problem): boolean {
  return (
    status >= 400 &&
    code.startsWith('IQA_INPUT_') &&
    request_id !== '' &&
    /^(Expected|The) .{20,}/.test(detail) &&
    !/\/tmp|\/proc|undefined|NaN|vips|\[object/i.test(detail)
  );
}

/** What must not depend on who else is being served. */
function strip({ image, plan, executor_evidence, summarizer_result, quality_score, diagnostics }: Assessment) {
  const logs = executor_evidence?.tool_logs.map(({ tool_name, raw_score, normalized_score, error }) => ({
    tool_name,
    raw_score,
    normalized_score,
    error,
  }));
  const { tools, findings } = diagnostics;
  return {
    image,
    plan,
    logs,
    scores: executor_evidence?.quality_scores,
    summarizer_result,
    quality_score,
    findings,
    values: tools.map(({ tool_name, raw_score }) => ({ tool_name, raw_score })),
  };
}

/** By the service, the sidecar and its workers together once garbage is collected, in MB; a page that several of them share is counted once. */
async function memoryHeld(service: Service): Promise<number> {
  const collections = () => service.logs.filter((line) => 'collected' in line).length;
  const before = collections();
  service.child.kill('SIGUSR2');
  await until(() => collections() > before);
  const share = (pid: number) =>
    Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1_000;
  return Math.round(
    [service.child.pid ?? 0, ...groupOf(service.sidecarPid ?? 0)].map(share).reduce((sum, value) => sum + value, 0),
  );
}
