// The sidecar killed with -9 under load, twenty times: every request ends right or with 503, and the service is always ready again.
import t from 'tap';
import { startService } from '../support/system/service.ts';
import { killUnderLoad } from '../support/sidecar/sidecar-kills.ts';

t.test('no request ends wrong, whenever the sidecar dies', async (t) => {
  const service = await startService(t);
  const { answers, readyAgainMs } = await killUnderLoad(service, 20);
  const statuses = answers.map(({ status }) => status);
  t.strictSame(
    [...new Set(statuses)].filter((status) => status !== 200 && status !== 503),
    [],
    'only 200 and 503',
  );
  t.ok(statuses.includes(200));
  t.strictSame(
    answers.filter(({ right }) => !right),
    [],
    'no wrong score',
  );
  t.equal(readyAgainMs.length, 20);
  t.comment(
    `${answers.length} requests, ${statuses.filter((status) => status === 503).length} answered 503; ready again after ${Math.max(...readyAgainMs).toFixed(0)} ms at most`,
  );
  service.child.kill('SIGTERM');
  t.equal(await service.exited, 0);
});
