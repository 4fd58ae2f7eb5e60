// The optional step that tries the pyiqa tier for real: makes its environment (about 6 GB, once), then runs its tests. Not a part of `npm test`.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const sidecar = join(dirname(dirname(fileURLToPath(import.meta.url))), 'sidecar');
const venv = join(sidecar, '.venv-pyiqa');

const tier = process.env['IQA_PYIQA_PYTHON'] || makeEnvironment();
const { status } = run(join(sidecar, '.venv', 'bin', 'python'), ['-m', 'pytest', '-q', '-n', '0', 'tier_tests'], {
  IQA_PYIQA_PYTHON: tier,
});
process.exit(status ?? 1);

/** The tier's own Python; an interrupted installation is continued. */
function makeEnvironment() {
  const python = join(venv, 'bin', 'python');
  const chosen = process.env['IQA_PYTHON'] || 'python3.11';
  if (!existsSync(python) && run(chosen, ['-m', 'venv', venv]).status !== 0)
    fail(`${chosen} cannot make an environment: the tier's lock is for Python 3.11; set IQA_PYTHON to one`);
  const lock = join(sidecar, 'requirements-pyiqa.lock');
  if (
    run(python, [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--require-hashes',
      '--requirement',
      lock,
    ]).status !== 0
  )
    fail('the packages of the pyiqa tier cannot be installed');
  return python;
}

function run(command, args, environment = {}) {
  return spawnSync(command, args, { cwd: sidecar, stdio: 'inherit', env: { ...process.env, ...environment } });
}

function fail(text) {
  process.stderr.write(`test:pyiqa failed: ${text}\n`);
  process.exit(1);
}
