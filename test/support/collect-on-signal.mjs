// Preloaded into a service under test: on SIGUSR2 it collects garbage and says so in a line of its log. V8 otherwise keeps hundreds of MB of it for as
// long as it likes, and what a process holds on to cannot be told from what it has not yet thrown away.
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
