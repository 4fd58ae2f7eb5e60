// Runs the TypeScript tests of one or more tiers with tap.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bin, python, reports, root, sidecar } from './paths.mjs';
import { countTap } from './reports.mjs';
import { runCommand } from './tasks.mjs';

const MIN_LINE_COVERAGE = 90;

/**
 * Loading the modules takes longer than most tests, so the files of a tier share a few processes.
 * System tests have a process each: they start services, fill the memory and send signals.
 */
const PROCESSES = { unit: 2, integration: 3 };

/** Integration tests share one sidecar; it is started here. */
export async function runTap(tiers, { coverage = false } = {}) {
  const shared = tiers.includes('unit') && tiers.length === 1 ? null : await startSidecar();
  const report = join(reports, `${tiers.join('-')}.tap`);
  const result = await runCommand({
    command: bin('tap'),
    args: [
      '--reporter=silent',
      `--output-file=${report}`,
      ...(coverage ? ['--coverage-report=json-summary', '--coverage-report=lcovonly'] : ['--disable-coverage']),
      ...tiers.flatMap(listFiles),
    ],
    cwd: root,
    env: shared ? { IQA_TEST_SIDECAR_URL: shared.url } : {},
    count: ({ status }) => countTap(report, status),
  });
  shared?.stop();
  return coverage ? withCoverage(result) : result;
}

function listFiles(tier) {
  const files = readdirSync(join(root, 'test', tier), { recursive: true })
    .filter((file) => file.endsWith('.test.ts'))
    .sort();
  const processes = PROCESSES[tier];
  if (processes === undefined) return files.map((file) => join('test', tier, file));
  const folder = join('.setup', 'test-groups');
  mkdirSync(join(root, folder), { recursive: true });
  return Array.from({ length: processes }, (_, index) => {
    const group = join(folder, `${tier}-${index + 1}.mjs`);
    const members = files.filter((_, at) => at % processes === index);
    writeFileSync(join(root, group), members.map((file) => `await import('../../test/${tier}/${file}');\n`).join(''));
    return group;
  });
}

function withCoverage(result) {
  const file = join(root, '.tap', 'report', 'coverage-summary.json');
  const covered = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).total.lines.pct : 0;
  rmSync(file, { force: true });
  const enough = covered >= MIN_LINE_COVERAGE;
  console.log(`--- coverage: ${covered} % of lines (at least ${MIN_LINE_COVERAGE} %)`);
  return {
    ...result,
    passed: result.passed + (enough ? 1 : 0),
    failed: result.failed + (enough ? 0 : 1),
    failures: [...result.failures, ...(enough ? [] : [`coverage is ${covered} %`])],
  };
}

function startSidecar() {
  const child = spawn(python, ['-m', 'iqa_sidecar', '--port', '0', '--workers', '2', '--exit-with-stdin'], {
    cwd: sidecar,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  return new Promise((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`The sidecar ended with ${code}`)));
    createInterface(child.stdout).once('line', (line) => {
      const { host, port } = JSON.parse(line);
      resolve({
        url: `http://${host}:${port}`,
        stop: () => {
          child.removeAllListeners('exit');
          child.stdin.end();
        },
      });
    });
  });
}
