// Runs a tier of checks and tests. Usage: node scripts/check.mjs [unit | system]; without a word, what `npm test` runs.
// The last line counts every test that ran.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bin, checksBin, python, reports, root, sidecar } from './checks/paths.mjs';
import { countContract, countPytest } from './checks/reports.mjs';
import { runTap } from './checks/tap.mjs';
import { runTasks } from './checks/tasks.mjs';

const TYPESCRIPT = ['--import=ts-blank-space/register'];
const DOCKERFILES = ['Dockerfile', 'sidecar/Dockerfile', 'sidecar/Dockerfile.pyiqa', 'gateway/Dockerfile'];

const inRoot = (name, command, args) => ({ name, command, args, cwd: root });
const inSidecar = (name, args) => ({ name, command: python, args: ['-m', ...args], cwd: sidecar });
const cache = (name) => join(root, '.setup', 'cache', name);

const linters = [
  inRoot('types', bin('tsc'), ['--noEmit', '--incremental', '--tsBuildInfoFile', cache('types.tsbuildinfo')]),
  inRoot('eslint', bin('eslint'), ['.', '--cache', '--cache-strategy', 'content', '--cache-location', cache('eslint')]),
  inRoot('prettier', bin('prettier'), [
    '--check',
    '--log-level',
    'warn',
    '--cache',
    '--cache-location',
    cache('prettier'),
    '.',
  ]),
  inRoot('docs are current', process.execPath, [...TYPESCRIPT, 'scripts/docs.ts', '--check']),
  inSidecar('ruff', ['ruff', 'check', '.', '../test/openapi']),
  inSidecar('ruff format', ['ruff', 'format', '--check', '.']),
  inSidecar('mypy', ['mypy', '.']),
  inRoot('Dockerfiles', checksBin('hadolint'), ['--failure-threshold', 'warning', ...DOCKERFILES]),
  inRoot('compose file', checksBin('check-jsonschema'), [
    '--builtin-schema',
    'vendor.compose-spec',
    'docker-compose.yml',
  ]),
];

const tiers = {
  unit: [[{ name: 'unit tests', run: () => runTap(['unit']) }]],
  default: [
    [...linters, pytest('pytest', [])],
    [{ name: 'unit and integration tests', run: () => runTap(['unit', 'integration'], { coverage: true }) }],
  ],
  system: [
    [
      pytest('pytest, system tests', ['-m', 'system']),
      contract(),
      { name: 'system tests', run: () => runTap(['system']) },
    ],
  ],
};

const lanes = tiers[process.argv[2] ?? 'default'];
if (!lanes) {
  console.error('Usage: node scripts/check.mjs [unit | system]');
  process.exit(2);
}
rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });
process.exit((await runTasks(lanes)) ? 0 : 1);

function pytest(name, args) {
  const report = join(reports, `${name.replaceAll(/\W+/g, '-')}.xml`);
  const task = inSidecar(name, ['pytest', '-q', `--junitxml=${report}`, ...args]);
  return { ...task, count: ({ status }) => countPytest(report, status) };
}

/** The OpenAPI document and Schemathesis; each operation counts as one test. */
function contract() {
  const report = join(reports, 'contract.json');
  const task = inRoot('contract', process.execPath, [...TYPESCRIPT, 'scripts/contract.ts', report]);
  return { ...task, count: ({ status }) => countContract(report, status) };
}
