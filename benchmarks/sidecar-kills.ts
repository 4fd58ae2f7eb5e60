// How soon the service is ready again after the sidecar is killed with -9 under load, and that no answer was ever wrong.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { startService } from '../test/support/service.ts';
import { killUnderLoad } from '../test/support/sidecar-kills.ts';

const KILLS = 20;
const GOAL_MS = 2_000;

// The test runner's own limit is half a minute.
t.setTimeout(300_000);
const service = await startService(t);
const { answers, readyAgainMs } = await killUnderLoad(service, KILLS);
service.child.kill('SIGTERM');
await service.exited;

const sorted = readyAgainMs.map(Math.round).toSorted((a, b) => a - b);
const result = {
  benchmark: 'sidecar-kills',
  date: new Date().toISOString(),
  machine: { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version },
  kills: KILLS,
  goal_ms: GOAL_MS,
  ready_again_ms: { median: sorted[KILLS / 2], worst: sorted.at(-1) },
  requests: answers.length,
  answered_200: answers.filter(({ status }) => status === 200).length,
  answered_503: answers.filter(({ status }) => status === 503).length,
  otherwise: answers.filter(({ status }) => status !== 200 && status !== 503).length,
  wrong: answers.filter(({ right }) => !right).length,
};
const folder = join(import.meta.dirname, 'results');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, `sidecar-kills-${result.date.slice(0, 10)}.json`), `${JSON.stringify(result, null, 2)}\n`);
t.pass(JSON.stringify(result, null, 2));
