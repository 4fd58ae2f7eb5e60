// Shutdown: running requests finish, new ones are refused, nothing stays on disk, and after a kill the next start cleans up.
import { readdirSync } from 'node:fs';
import { Agent, request, type ClientRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { Assessment } from '../../schemas/responses/assessment.ts';
import { formRequest } from '../support/app.ts';
import { makeImage } from '../support/images/images.ts';
import { groupOf, startService, until } from '../support/system/service.ts';

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: unknown;
}

/** An upload that pauses halfway until `finish` is called. */
async function beginUpload(
  address: string,
  image: Buffer,
  agent: Agent,
): Promise<{ finish: () => Promise<Answer>; sending: ClientRequest }> {
  const { payload, headers } = await formRequest({ image });
  const body = payload as Buffer;
  const sending = request(`${address}/assess`, {
    method: 'POST',
    agent,
    headers: { ...(headers as Record<string, string>), 'content-length': body.length },
  });
  const answer = new Promise<Answer>((resolve, reject) => {
    sending.on('error', reject).on('response', (response) => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => {
          text += chunk;
        })
        .on('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text) });
        });
    });
  });
  answer.catch(() => undefined);
  const half = Math.floor(body.length / 2);
  await new Promise<void>((resolve) =>
    sending.write(body.subarray(0, half), () => {
      resolve();
    }),
  );
  return {
    sending,
    finish() {
      sending.end(body.subarray(half));
      return answer;
    },
  };
}

const spooled = (folder: string): string[] => readdirSync(folder).flatMap((name) => readdirSync(join(folder, name)));

t.test(
  'TERM with 20 uploads in flight: they finish, new requests get 503, exit code 0, the spool is empty',
  async (t) => {
    const folder = t.testdir();
    const service = await startService(t, { environment: { IQA_SPOOL_DIR: folder, IQA_SHUTDOWN_GRACE_MS: '60000' } });
    const agent = new Agent();
    const uploads = await Promise.all(
      Array.from({ length: 20 }, async (_, seed) =>
        beginUpload(service.address, await makeImage({ width: 256, height: 192, seed }).png().toBuffer(), agent),
      ),
    );
    await until(() => spooled(folder).length === 20);
    service.child.kill('SIGTERM');
    await until(async () => (await fetch(`${service.address}/ready`)).status === 503);
    const late = await beginUpload(service.address, await makeImage({ width: 64, height: 64 }).png().toBuffer(), agent);
    const refused = await late.finish();
    t.match(refused.body, { status: 503, code: 'IQA_BUSY', detail: /shutting down/ });
    t.match(refused.headers['retry-after'], /^\d+$/);
    t.equal((await fetch(`${service.address}/health`)).status, 200, 'still alive');
    const answers = await Promise.all(uploads.map(({ finish }) => finish()));
    t.ok(
      answers.every(({ status, body }) => status === 200 && (body as Assessment).quality_score !== null),
      answers.map(({ status }) => status).join(),
    );
    t.equal(await service.exited, 0);
    t.strictSame(readdirSync(folder), [], 'the spool is gone');
    await until(() => groupOf(service.sidecarPid ?? 0).length === 0);
  },
);

t.test('an upload that exceeds the grace period is cut off, and the exit is still clean', async (t) => {
  const folder = t.testdir();
  const service = await startService(t, { environment: { IQA_SPOOL_DIR: folder, IQA_SHUTDOWN_GRACE_MS: '500' } });
  const { sending } = await beginUpload(
    service.address,
    await makeImage({ width: 256, height: 192 }).png().toBuffer(),
    new Agent(),
  );
  const cut = new Promise<void>((resolve) => {
    sending.on('error', () => {
      resolve();
    });
  });
  await until(() => spooled(folder).length === 1);
  service.child.kill('SIGTERM');
  t.equal(await service.exited, 0);
  await cut;
  t.strictSame(readdirSync(folder), []);
});

t.test('one Ctrl-C under npm, which forwards it to a process that already got it, still drains', async (t) => {
  const folder = t.testdir();
  const service = await startService(t, {
    command: ['npm', 'start', '--silent'],
    environment: { IQA_SPOOL_DIR: folder, IQA_SHUTDOWN_GRACE_MS: '60000' },
  });
  const image = await makeImage({ width: 256, height: 192 }).png().toBuffer();
  const { finish } = await beginUpload(service.address, image, new Agent());
  await until(() => spooled(folder).length === 1);
  process.kill(-(service.child.pid ?? 0), 'SIGINT');
  await until(async () => (await fetch(`${service.address}/ready`)).status === 503);
  t.equal((await finish()).status, 200);
  await service.exited;
  t.strictSame(readdirSync(folder), []);
});

t.test('a second Ctrl-C ends at once and leaves no process', async (t) => {
  const folder = t.testdir();
  const service = await startService(t, { environment: { IQA_SPOOL_DIR: folder, IQA_SHUTDOWN_GRACE_MS: '600000' } });
  const image = await makeImage({ width: 256, height: 192 }).png().toBuffer();
  const { sending } = await beginUpload(service.address, image, new Agent());
  sending.on('error', () => undefined);
  await until(() => spooled(folder).length === 1);
  service.child.kill('SIGINT');
  await until(async () => (await fetch(`${service.address}/ready`)).status === 503);
  service.child.kill('SIGTERM');
  await delay(1_500);
  t.equal(service.child.exitCode, null, 'TERM does not shorten the grace period');
  service.child.kill('SIGINT');
  t.equal(await service.exited, 130);
  await until(() => groupOf(service.sidecarPid ?? 0).length === 0);
});

t.test('KILL in the middle of an upload: the next start removes what was left', async (t) => {
  const folder = t.testdir();
  const killed = await startService(t, { environment: { IQA_SPOOL_DIR: folder } });
  const { sending } = await beginUpload(
    killed.address,
    await makeImage({ width: 256, height: 192 }).png().toBuffer(),
    new Agent(),
  );
  sending.on('error', () => undefined);
  await until(() => spooled(folder).length === 1);
  killed.child.kill('SIGKILL');
  await killed.exited;
  t.equal(spooled(folder).length, 1, 'left behind');
  const next = await startService(t, { environment: { IQA_SPOOL_DIR: folder } });
  t.strictSame(spooled(folder), []);
  t.equal(readdirSync(folder).length, 1, 'only the spool of the running service');
  next.child.kill('SIGTERM');
  t.equal(await next.exited, 0);
});
