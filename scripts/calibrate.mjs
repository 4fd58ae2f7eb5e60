// `npm run calibrate`: makes the environment of the fits once (.setup/training-env), then fits calibrations to the user's rated images.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const PATHS = ['--manifest', '--folder', '--output'];
const sidecar = join(dirname(dirname(fileURLToPath(import.meta.url))), 'sidecar');
const environment = join(dirname(sidecar), '.setup', 'training-env');
const python = join(environment, 'bin', 'python');

makeEnvironment();
// One thread: the fits solve many tiny problems, which threads only slow down.
const { status } = spawnSync(python, ['-m', 'training.calibrate', ...resolvePaths(process.argv.slice(2))], {
  cwd: sidecar,
  stdio: 'inherit',
  env: { ...process.env, OPENBLAS_NUM_THREADS: '1' },
});
process.exit(status ?? 1);

/** npm runs scripts in the project's folder; the user means the folder where they are. */
function resolvePaths(args) {
  const from = process.env['INIT_CWD'] ?? process.cwd();
  return args.map((argument, index) => {
    const name = PATHS.find((path) => argument.startsWith(`${path}=`));
    if (name) return `${name}=${resolve(from, argument.slice(name.length + 1))}`;
    return PATHS.includes(args[index - 1]) && !argument.startsWith('--') ? resolve(from, argument) : argument;
  });
}

function makeEnvironment() {
  const locks = [
    ['--require-hashes', '--requirement', join(sidecar, 'requirements.lock')],
    ['--requirement', join(sidecar, 'training', 'requirements.txt')],
  ];
  const stamp = join(dirname(environment), 'training');
  const hash = createHash('sha256').update(environment);
  for (const lock of locks) hash.update(readFileSync(lock.at(-1)));
  const digest = hash.digest('hex');
  if (existsSync(python) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  const chosen = process.env['IQA_PYTHON'] || 'python3';
  if (!succeeds(chosen, ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))']))
    fail(`Expected Python 3.11 or newer but ${chosen} is not; install it or set IQA_PYTHON`);
  process.stderr.write('calibrate: making the environment of the fits (once)\n');
  mkdirSync(dirname(environment), { recursive: true });
  rmSync(stamp, { force: true });
  rmSync(environment, { recursive: true, force: true });
  if (!succeeds(chosen, ['-m', 'venv', environment]))
    fail(`${chosen} cannot make a virtual environment (on Debian and Ubuntu: apt install python3-venv)`);
  for (const lock of locks) {
    if (!succeeds(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...lock]))
      fail(`the packages of ${lock.at(-1)} cannot be installed (is the package index reachable?)`);
  }
  writeFileSync(stamp, digest);
}

function succeeds(command, args) {
  return spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}

function fail(text) {
  process.stderr.write(`calibrate failed: ${text}\n`);
  process.exit(1);
}
