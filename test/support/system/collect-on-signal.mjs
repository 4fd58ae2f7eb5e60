// Preloaded into a service under test: on SIGUSR2 it collects garbage and logs a line. Otherwise V8 may keep hundreds of MB of garbage, which
// cannot be distinguished from a leak.
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
let times = 0;

process.on('SIGUSR2', () => {
  collect();
  times += 1;
  process.stdout.write(`${JSON.stringify({ collected: times })}\n`);
});
