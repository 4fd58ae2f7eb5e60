// The set-up script on machines that lack something: one clear sentence and a failing exit code each time.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { projectRoot } from '../../../src/config/config.ts';

const root = projectRoot();

/** A bare clone with just what the set-up looks at. */
function bareClone(t: Test): string {
  const clone = t.testdir({ sidecar: {}, scripts: {}, bin: {} });
  for (const file of ['package.json', 'package-lock.json', 'scripts/setup.mjs', 'sidecar/requirements.lock'])
    cpSync(join(root, file), join(clone, file));
  return clone;
}

function pretendNodeModules(clone: string): void {
  const npm = join(clone, 'bin', 'npm');
  writeFileSync(npm, '#!/bin/sh\nmkdir -p node_modules && touch node_modules/.package-lock.json\n');
  chmodSync(npm, 0o755);
}

function pretendPython(clone: string, version: string, venv: string): string {
  const python = join(clone, 'bin', 'old-python');
  writeFileSync(python, `#!/bin/sh\nif [ "$1" = -c ]; then echo ${version}; else ${venv}; fi\n`);
  chmodSync(python, 0o755);
  return python;
}

function setUp(clone: string, environment: Record<string, string>) {
  const env = {
    ...process.env,
    PATH: `${join(clone, 'bin')}:${process.env['PATH'] ?? ''}`,
    SIDECAR_URL: '',
    ...environment,
  };
  const { status, stderr } = spawnSync(process.execPath, [join(clone, 'scripts/setup.mjs'), '--no-build'], {
    cwd: clone,
    env,
    encoding: 'utf8',
  });
  return { status, complaint: stderr.split('\n').filter((line) => line.startsWith('set-up failed')) };
}

t.test('no Python', async (t) => {
  const clone = bareClone(t);
  pretendNodeModules(clone);
  const { status, complaint } = setUp(clone, { IQA_PYTHON: '/nowhere/python' });
  t.equal(status, 1);
  t.strictSame(complaint, [
    'set-up failed: Expected Python 3.10 or newer for the sidecar but found no Python at /nowhere/python; install it or set IQA_PYTHON',
  ]);
});

t.test('a Python that is too old', async (t) => {
  const clone = bareClone(t);
  pretendNodeModules(clone);
  const { status, complaint } = setUp(clone, { IQA_PYTHON: pretendPython(clone, '3.8', 'true') });
  t.equal(status, 1);
  t.match(complaint, [
    /Expected Python 3\.10 or newer for the sidecar but .*old-python is 3\.8; set IQA_PYTHON to a newer one/,
  ]);
});

t.test('a Python without the venv module', async (t) => {
  const clone = bareClone(t);
  pretendNodeModules(clone);
  const { status, complaint } = setUp(clone, {
    IQA_PYTHON: pretendPython(clone, '3.11', 'echo "No module named venv" >&2; exit 1'),
  });
  t.equal(status, 1);
  t.match(complaint, [/cannot make a virtual environment \(on Debian and Ubuntu: apt install python3-venv\)/]);
});

t.test('no network for node modules', async (t) => {
  const { status, complaint } = setUp(bareClone(t), {
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_cache: join(t.testdirName, 'no-cache'),
  });
  t.equal(status, 1);
  t.match(complaint, [/node modules cannot be installed \(is the package registry reachable\?\)/]);
});

t.test('no network for Python packages', async (t) => {
  const clone = bareClone(t);
  pretendNodeModules(clone);
  const { status, complaint } = setUp(clone, {
    PIP_INDEX_URL: 'http://127.0.0.1:9/simple',
    PIP_NO_CACHE_DIR: '1',
    PIP_CONFIG_FILE: '/dev/null',
  });
  t.equal(status, 1);
  t.match(complaint, [/Python packages cannot be installed \(is the package index reachable\?\)/]);
});

t.test('when all is current it does nothing', async (t) => {
  const clone = bareClone(t);
  pretendNodeModules(clone);
  const venv = join(clone, 'sidecar/.venv/bin');
  const python = pretendPython(
    clone,
    '3.12',
    `mkdir -p ${venv} && printf '#!/bin/sh\\n' > ${venv}/python && chmod +x ${venv}/python`,
  );
  t.equal(setUp(clone, { IQA_PYTHON: python }).status, 0);
  mkdirSync(join(clone, 'bin2'), { recursive: true });
  t.equal(
    setUp(clone, { IQA_PYTHON: '/nowhere/python', PATH: join(clone, 'bin2') }).status,
    0,
    'needs neither npm nor Python the second time',
  );
});

t.test('with SIDECAR_URL no Python is needed', async (t) => {
  const clone = bareClone(t);
  pretendNodeModules(clone);
  t.equal(setUp(clone, { IQA_PYTHON: '/nowhere/python', SIDECAR_URL: 'http://sidecar:8000' }).status, 0);
});
