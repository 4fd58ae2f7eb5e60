// Measures how soon the service is ready again after the sidecar is killed with SIGKILL under load, and counts wrong answers.
import t from 'tap';
import { startService } from '../test/support/system/service.ts';
import { killUnderLoad } from '../test/support/sidecar/sidecar-kills.ts';
import { saveResult } from './save-result.ts';

const KILLS = 20;
const GOAL_MS = 2_000;

// tap's default is 30 s.
t.setTimeout(300_000);
const service = await startService(t);
const { answers, readyAgainMs } = await killUnderLoad(service, KILLS);
service.child.kill('SIGTERM');
await service.exited;

const sorted = readyAgainMs.map(Math.round).toSorted((a, b) => a - b);
saveResult('sidecar-kills', {
  kills: KILLS,
  goal_ms: GOAL_MS,
  ready_again_ms: { median: sorted[KILLS / 2], worst: sorted.at(-1) },
  requests: answers.length,
  answered_200: answers.filter(({ status }) => status === 200).length,
  answered_503: answers.filter(({ status }) => status === 503).length,
  otherwise: answers.filter(({ status }) => status !== 200 && status !== 503).length,
  wrong: answers.filter(({ right }) => !right).length,
});
t.pass();
