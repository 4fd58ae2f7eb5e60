// The service as a process: start, stop, kill, and no sidecar left behind.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { projectRoot } from '../../src/config/config.ts';
import { formRequest } from '../support/app.ts';
import { makeImage } from '../support/images/images.ts';
import { groupOf, isAlive, startService, until } from '../support/system/service.ts';

const image = await makeImage({ width: 256, height: 256 }).png().toBuffer();

async function assess(address: string): Promise<Response> {
  const { payload, headers } = await formRequest({ image });
  return fetch(`${address}/assess`, {
    method: 'POST',
    body: new Uint8Array(payload as Buffer),
    headers: headers as Record<string, string>,
  });
}

t.test('npm start serves; TERM to npm stops all processes in order', async (t) => {
  const spool = t.testdir();
  const service = await startService(t, {
    command: ['npm', 'start', '--silent'],
    environment: { IQA_SPOOL_DIR: spool, NODE_ENV: 'production' },
  });
  t.equal((await assess(service.address)).status, 200);
  t.ok(groupOf(service.sidecarPid ?? 0).length >= 3, 'the sidecar, its fork server and its workers');
  service.child.kill('SIGTERM');
  await service.exited;
  await until(() => groupOf(service.sidecarPid ?? 0).length === 0);
  t.strictSame(readdirSync(spool), [], 'the spool is gone');
});

t.test('INT to the whole group, as Ctrl-C sends it, exits 0 and leaves no process', async (t) => {
  const service = await startService(t);
  process.kill(-(service.child.pid ?? 0), 'SIGINT');
  t.equal(await service.exited, 0);
  await until(() => groupOf(service.sidecarPid ?? 0).length === 0);
});

t.test('KILL to node ends the sidecar and its workers too', async (t) => {
  const service = await startService(t);
  const group = groupOf(service.sidecarPid ?? 0);
  t.ok(group.length >= 3);
  service.child.kill('SIGKILL');
  await service.exited;
  await until(() => !group.some(isAlive));
  t.pass('all gone');
});

t.test('a killed sidecar is restarted, and the service answers again', async (t) => {
  const service = await startService(t);
  for (let round = 0; round < 2; round += 1) {
    const pids = service.logs.filter((line) => 'sidecar_pid' in line).map((line) => Number(line['sidecar_pid']));
    process.kill(pids.at(-1) ?? 0, 'SIGKILL');
    await until(() => service.logs.filter((line) => 'sidecar_pid' in line).length > pids.length);
    await until(async () => (await fetch(`${service.address}/ready`)).status === 200);
    t.equal((await assess(service.address)).status, 200);
  }
  t.ok(service.logs.some((line) => line['msg'] === 'Sidecar died; restarting' && line['level'] === 40));
});

t.test('two instances on one machine are independent', async (t) => {
  const [first, second] = await Promise.all([startService(t), startService(t)]);
  t.not(first.address, second.address);
  t.not(first.sidecarPid, second.sidecarPid);
  second.child.kill('SIGTERM');
  await second.exited;
  t.equal((await assess(first.address)).status, 200);
  first.child.kill('SIGTERM');
  t.equal(await first.exited, 0);
});

t.test('with SIDECAR_URL no child is started', async (t) => {
  const owner = await startService(t);
  const port = owner.logs.find((line) => 'sidecar_port' in line)?.['sidecar_port'] as number;
  const service = await startService(t, { environment: { SIDECAR_URL: `http://127.0.0.1:${port}` } });
  t.equal(service.sidecarPid, null);
  t.equal((await assess(service.address)).status, 200);
});

t.test('a failed start is one clear sentence and exit code 1', async (t) => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  t.teardown(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const cases: [Record<string, string>, RegExp][] = [
    [
      { IQA_PORT: String(port) },
      new RegExp(`^agentic-iqa cannot start: port ${port} is taken; set IQA_PORT to a free one\n$`),
    ],
    [
      { IQA_PORT: 'eighty' },
      /^agentic-iqa cannot start: Expected an integer from 0 to 65535 for IQA_PORT but received "eighty"\n$/,
    ],
    [{ IQA_LOG_LEVEL: 'loud' }, /Expected one of fatal, .* for IQA_LOG_LEVEL but received "loud"/],
    [{ SIDECAR_URL: 'ftp://x' }, /Expected an http address for SIDECAR_URL but received "ftp:\/\/x"/],
    [
      { IQA_SPOOL_DIR: '/proc/nope' },
      /Expected a usable folder for IQA_SPOOL_DIR but "\/proc\/nope" cannot be created \(ENOENT\)/,
    ],
    [
      { IQA_CHECKPOINTS: 'sqlite', IQA_CHECKPOINTS_DIR: '/proc/nope' },
      /for IQA_CHECKPOINTS_DIR but "\/proc\/nope\/images" cannot be created \(ENOENT\)/,
    ],
    [
      { IQA_CHECKPOINTS: 'sqlite', IQA_CHECKPOINTS_DIR: '/dev/null/x' },
      /for IQA_CHECKPOINTS_DIR but .* cannot be created \(ENOTDIR\)/,
    ],
  ];
  for (const [environment, expected] of cases) {
    const { status, stderr } = spawnSync('node', [join(projectRoot(), 'dist/src/server.js')], {
      env: { ...process.env, NODE_V8_COVERAGE: '', ...environment },
      encoding: 'utf8',
      timeout: 120_000,
    });
    t.equal(status, 1, JSON.stringify(environment));
    t.match(stderr, expected);
  }
});
