// The sidecar supervisor: restarts, backoff, failed first start, stop.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { superviseSidecar } from '../../../../src/tools/sidecar/supervisor.ts';
import { captureLog, sidecarCommand } from '../../../support/app.ts';
import { groupOf, until } from '../../../support/system/service.ts';

/** A script in place of the sidecar. */
function createScript(t: Test, script: string) {
  const file = join(t.testdir(), 'sidecar.mjs');
  writeFileSync(file, script);
  return { command: process.execPath, args: [file], cwd: '.' };
}

t.test('a program that never listens: the backoff grows, and the start fails with its last log line', async (t) => {
  const { log, logs } = captureLog();
  const supervisor = superviseSidecar(createScript(t, 'console.error("no numpy here"); process.exit(3)'), log);
  await t.rejects(supervisor.started, { message: /does not start: exit code 3: no numpy here/ });
  t.equal(supervisor.origin(), null);
  await supervisor.stop();
  const waits = logs.filter((line) => 'restart_in_ms' in line).map((line) => Number(line['restart_in_ms']));
  t.strictSame(waits.slice(0, 3), [100, 200, 400]);
});

t.test('a command that does not exist', async (t) => {
  const supervisor = superviseSidecar({ command: '/nowhere/python', args: [], cwd: '.' }, captureLog().log);
  await t.rejects(supervisor.started, { message: /ENOENT/ });
  await supervisor.stop();
});

t.test('the real sidecar is restarted on another port when killed, and is gone after stop', async (t) => {
  const { log, logs } = captureLog();
  const supervisor = superviseSidecar(sidecarCommand(), log);
  await supervisor.started;
  const first = supervisor.pid() ?? 0;
  t.match(supervisor.origin(), /^http:\/\/127\.0\.0\.1:\d+$/);
  process.kill(first, 'SIGKILL');
  await until(() => logs.filter((line) => 'sidecar_pid' in line).length === 2);
  t.not(supervisor.pid(), first);
  await until(() => groupOf(first).length === 0);
  const second = supervisor.pid() ?? 0;
  await supervisor.stop();
  await until(() => groupOf(second).length === 0);
  t.equal(supervisor.origin(), null);
});
