// Runs checks side by side, keeps the output of each together, and counts what passed and failed.
import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';

/** What a check without tests of its own counts for: one, passed or failed. */
const asOneTest = ({ status }) => ({ passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1 });

/**
 * A task is { name, command, args, cwd, env, count } or { name, run }. `count` turns the exit status and the output into
 * { passed, failed, failures }; `run` resolves to the same.
 */
export async function runTasks(lanes) {
  const total = { passed: 0, failed: 0, failures: [] };
  const runLane = async (tasks) => {
    for (const task of tasks) {
      const started = performance.now();
      const { output = '', passed, failed, failures = [] } = await (task.run ? task.run() : runCommand(task));
      console.log(`--- ${task.name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
      if (output.trim() !== '' && (failed > 0 || task.shows)) console.log(output.trimEnd());
      total.passed += passed;
      total.failed += failed;
      if (failed > 0) total.failures.push(task.name, ...failures);
    }
  };
  await Promise.all(lanes.map(runLane));
  for (const failure of total.failures) console.log(`FAILED: ${failure}`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0;
}

export async function runCommand({ command, args, cwd, env, count = asOneTest }) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  child.stderr.on('data', (chunk) => chunks.push(chunk));
  const status = await new Promise((resolve) => {
    child.on('error', (error) => {
      chunks.push(Buffer.from(String(error)));
      resolve(1);
    });
    child.on('close', (code) => resolve(code ?? 1));
  });
  return { output: Buffer.concat(chunks).toString(), ...count({ status }) };
}
