// Everything that must hold, in one command: lint, types, generated docs, the published interface, the tests of both languages, coverage.
// `npm test`, `npm run check` and CI run exactly this. Its last line counts every test that ran.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const LINES_COVERED = 90;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = (name) => join(root, 'node_modules', '.bin', name);
const python = join(root, 'sidecar', '.venv', 'bin', 'python');
const sidecar = join(root, 'sidecar');
const checks = (name) => join(root, '.setup', 'checks-env', 'bin', name);
const reports = join(root, '.setup', 'reports');
const failures = [];
let passed = 0;
let failed = 0;

await main();

async function main() {
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports, { recursive: true });
  check('eslint', bin('eslint'), ['.']);
  check('types', bin('tsc'), ['--noEmit']);
  check('docs are current', process.execPath, ['--import=ts-blank-space/register', 'scripts/docs.ts', '--check']);
  check('ruff', python, ['-m', 'ruff', 'check', '.'], sidecar);
  check('ruff format', python, ['-m', 'ruff', 'format', '--check', '.'], sidecar);
  check('mypy', python, ['-m', 'mypy', '.'], sidecar);
  check('Dockerfiles', checks('hadolint'), [
    '--failure-threshold',
    'warning',
    'Dockerfile',
    'sidecar/Dockerfile',
    'sidecar/Dockerfile.pyiqa',
    'gateway/Dockerfile',
  ]);
  check('compose file', checks('check-jsonschema'), ['--builtin-schema', 'vendor.compose-spec', 'docker-compose.yml']);
  check('ruff on hooks', python, ['-m', 'ruff', 'check', '--config', 'pyproject.toml', '../test/openapi'], sidecar);
  runPytest();
  runContract();
  await runTap();
  checkCoverage();
  for (const failure of failures) console.log(`FAILED: ${failure}`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failures.length > 0 ? 1 : 0);
}

/** A check without tests of its own counts as one. */
function check(name, command, args, cwd = root) {
  console.log(`--- ${name}`);
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  count(name, status === 0 ? 1 : 0, status === 0 ? 0 : 1);
}

function count(name, good, bad) {
  passed += good;
  failed += bad;
  if (bad > 0) failures.push(name);
}

function runPytest() {
  console.log('--- pytest');
  const report = join(reports, 'pytest.xml');
  const { status } = spawnSync(python, ['-m', 'pytest', '-q', `--junitxml=${report}`], {
    cwd: sidecar,
    stdio: 'inherit',
  });
  const suite = existsSync(report) ? (readFileSync(report, 'utf8').match(/<testsuite [^>]*>/)?.[0] ?? '') : '';
  const number = (name) => Number(suite.match(new RegExp(`${name}="(\\d+)"`))?.[1] ?? 0);
  const bad = number('failures') + number('errors');
  const skipped = number('skipped');
  count('pytest', number('tests') - bad - skipped, status === 0 ? bad : Math.max(1, bad));
  if (bad > 0) failures.push(...failedInPytest(readFileSync(report, 'utf8')));
  if (skipped > 0) reportSkipped(`${skipped} Python tests`);
}

/** The OpenAPI document and Schemathesis; each operation counts as one. */
function runContract() {
  console.log('--- contract');
  const report = join(reports, 'contract.json');
  const { status } = spawnSync(process.execPath, ['--import=ts-blank-space/register', 'scripts/contract.ts', report], {
    cwd: root,
    stdio: 'inherit',
  });
  const result = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : { passed: 0, failed: 1 };
  count('contract', result.passed, status === 0 ? result.failed : Math.max(1, result.failed));
}

/** All test files share one sidecar, as requests of one service would. */
async function runTap() {
  console.log('--- tap');
  const shared = await startSidecar();
  const report = join(reports, 'results.tap');
  const { status } = spawnSync(
    bin('tap'),
    ['--reporter=terse', `--output-file=${report}`, '--coverage-report=json-summary', '--coverage-report=text'],
    { cwd: root, stdio: 'inherit', env: { ...process.env, IQA_TEST_SIDECAR_URL: shared.url } },
  );
  shared.stop();
  const results = existsSync(report) ? readFileSync(report, 'utf8') : '';
  const summary = results.match(/^# \{ total: .*\}$/m)?.[0] ?? '';
  const number = (name) => Number(summary.match(new RegExp(`${name}: (\\d+)`))?.[1] ?? 0);
  count('tap', number('pass'), status === 0 ? number('fail') : Math.max(1, number('fail')));
  failures.push(...failedInTap(results));
  if (number('skip') > 0) reportSkipped(`${number('skip')} TypeScript tests`);
}

/** Who failed, and why, belongs to the last lines: of a long run often only those are kept. */
function failedInPytest(xml) {
  return [
    ...xml.matchAll(/<testcase classname="([^"]*)" name="([^"]*)"[^>]*>\s*<(?:failure|error) message="([^"]*)"/g),
  ].map(([, file, name, message]) => `${file} ${name}: ${message.slice(0, 300)}`);
}

/** The innermost failures of nested TAP, each with the subtests it lies in and the first lines of its diagnosis. */
function failedInTap(results) {
  const lines = results.split('\n');
  const path = [];
  const found = [];
  lines.forEach((line, index) => {
    const [, indent, subtest, failure] = line.match(/^( *)(?:# Subtest: (.*)|not ok \d+ - (.*))$/) ?? [];
    if (indent === undefined) return;
    const depth = indent.length / 4;
    if (subtest !== undefined) path.splice(depth, Infinity, subtest);
    else if (!/# (?:SKIP|TODO)/.test(failure) && !found.some(({ end }) => end === depth + 1)) {
      const ends = lines.indexOf(`${indent}  ...`, index);
      const diagnosis = lines.slice(index + 1, Math.min(ends, index + 30)).map((text) => text.slice(indent.length));
      found.push({ end: depth, text: [[...path.slice(0, depth), failure].join(' > '), ...diagnosis].join('\n') });
    } else
      found.forEach((one) => {
        if (one.end === depth + 1) one.end = depth;
      });
  });
  return found.map(({ text }) => text);
}

/** Tests that need a part of the outside world say so when it is missing; in CI nothing may be missing. */
function reportSkipped(what) {
  console.log(`SKIPPED: ${what}; the lines above say what they need`);
  if (process.env['CI']) count(`skipped in CI: ${what}`, 0, 1);
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

function checkCoverage() {
  const file = join(root, '.tap', 'report', 'coverage-summary.json');
  const covered = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).total.lines.pct : 0;
  console.log(`--- coverage: ${covered} % of lines (at least ${LINES_COVERED} %)`);
  count('coverage', covered >= LINES_COVERED ? 1 : 0, covered >= LINES_COVERED ? 0 : 1);
}
