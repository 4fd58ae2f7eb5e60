// The set-up script: clear failures on incomplete machines, several runs at once, and runs next to a running service.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  createBareClone,
  pathWithStubs,
  setUpAndBuild,
  createSmallProject,
  writeVersion,
} from '../../support/system/small-project.ts';

function stubNpm(clone: string): void {
  const npm = join(clone, 'bin', 'npm');
  writeFileSync(npm, '#!/bin/sh\nmkdir -p node_modules && touch node_modules/.package-lock.json\n');
  chmodSync(npm, 0o755);
}

function stubPython(clone: string, version: string, venv: string): string {
  const python = join(clone, 'bin', 'old-python');
  writeFileSync(python, `#!/bin/sh\nif [ "$1" = -c ]; then echo ${version}; else ${venv}; fi\n`);
  chmodSync(python, 0o755);
  return python;
}

function setUp(clone: string, environment: Record<string, string>) {
  const env = { ...process.env, PATH: pathWithStubs(clone), SIDECAR_URL: '', ...environment };
  const { status, stderr } = spawnSync(process.execPath, [join(clone, 'scripts/setup.mjs'), '--no-build'], {
    cwd: clone,
    env,
    encoding: 'utf8',
  });
  return { status, failure: stderr.split('\n').filter((line) => line.startsWith('set-up failed')) };
}

t.test('no Python', async (t) => {
  const clone = createBareClone(t);
  stubNpm(clone);
  const { status, failure } = setUp(clone, { IQA_PYTHON: '/nowhere/python' });
  t.equal(status, 1);
  t.strictSame(failure, [
    'set-up failed: Expected Python 3.10 or newer for the sidecar but found no Python at /nowhere/python; install it or set IQA_PYTHON',
  ]);
});

t.test('a Python that is too old', async (t) => {
  const clone = createBareClone(t);
  stubNpm(clone);
  const { status, failure } = setUp(clone, { IQA_PYTHON: stubPython(clone, '3.8', 'true') });
  t.equal(status, 1);
  t.match(failure, [
    /Expected Python 3\.10 or newer for the sidecar but .*old-python is 3\.8; set IQA_PYTHON to a newer one/,
  ]);
});

t.test('a Python without the venv module', async (t) => {
  const clone = createBareClone(t);
  stubNpm(clone);
  const { status, failure } = setUp(clone, {
    IQA_PYTHON: stubPython(clone, '3.11', 'echo "No module named venv" >&2; exit 1'),
  });
  t.equal(status, 1);
  t.match(failure, [/cannot create a virtual environment \(on Debian and Ubuntu: apt install python3-venv\)/]);
});

t.test('no network for node modules', async (t) => {
  const { status, failure } = setUp(createBareClone(t), {
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_cache: join(t.testdirName, 'no-cache'),
  });
  t.equal(status, 1);
  t.match(failure, [/node modules cannot be installed \(is the package registry reachable\?\)/]);
});

t.test('no network for Python packages', async (t) => {
  const clone = createBareClone(t);
  stubNpm(clone);
  const { status, failure } = setUp(clone, {
    PIP_INDEX_URL: 'http://127.0.0.1:9/simple',
    PIP_NO_CACHE_DIR: '1',
    PIP_CONFIG_FILE: '/dev/null',
  });
  t.equal(status, 1);
  t.match(failure, [/Python packages cannot be installed \(is the package index reachable\?\)/]);
});

t.test('does nothing when everything is current', async (t) => {
  const clone = createBareClone(t);
  stubNpm(clone);
  const venv = join(clone, 'sidecar/.venv/bin');
  const python = stubPython(
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
  const clone = createBareClone(t);
  stubNpm(clone);
  t.equal(setUp(clone, { IQA_PYTHON: '/nowhere/python', SIDECAR_URL: 'http://sidecar:8000' }).status, 0);
});

async function startSmallService(t: Test, clone: string): Promise<() => Promise<string>> {
  const child = spawn(process.execPath, ['dist/src/server.js'], { cwd: clone, stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill());
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { port } = JSON.parse(line.toString()) as { port: number };
  return async () => (await fetch(`http://127.0.0.1:${port}`)).text();
}

t.test('of several runs at once one works and the others wait', async (t) => {
  const clone = createSmallProject(t);
  const results = await Promise.all([setUpAndBuild(clone), setUpAndBuild(clone), setUpAndBuild(clone)]);
  t.strictSame(
    results.map(({ status }) => status),
    [0, 0, 0],
    JSON.stringify(results),
  );
  const count = (text: RegExp) => results.filter(({ stderr }) => text.test(stderr)).length;
  t.equal(count(/waiting for process \d+, which is setting up/), 2);
  t.equal(count(/building/), 1);
  t.equal(readFileSync(join(clone, 'npm-calls'), 'utf8'), 'called\n', 'installed once');
  t.equal(await (await startSmallService(t, clone))(), 'first first');
});

t.test('a stale lock is taken over', async (t) => {
  const clone = createSmallProject(t);
  const lock = join(clone, '.setup/lock');
  const { pid } = spawnSync('true');
  for (const [owner, name] of [
    ['a process that has ended', `${pid}-1`],
    ['an earlier process with an id that is used again', `${process.pid}-1`],
  ] as const) {
    mkdirSync(lock, { recursive: true });
    writeFileSync(join(lock, name), '');
    const { status, stderr } = await setUpAndBuild(clone);
    t.equal(status, 0, stderr);
    t.notMatch(stderr, /waiting/, owner);
    t.strictSame(readdirSync(lock), [], 'and released');
  }
  t.strictSame(
    readdirSync(join(clone, '.setup')).filter((name) => name.startsWith('lock-')),
    [],
  );
});

t.test('a rebuild leaves a running service its files, and dist is never missing', async (t) => {
  const clone = createSmallProject(t);
  const server = join(clone, 'dist/src/server.js');
  // A real folder, as earlier versions built it.
  mkdirSync(join(clone, 'dist/src'), { recursive: true });
  writeFileSync(server, '');
  t.equal((await setUpAndBuild(clone)).status, 0);
  const ask = await startSmallService(t, clone);
  writeVersion(clone, 'second');
  let missing = 0;
  const watch = setInterval(() => {
    if (!existsSync(server)) missing += 1;
  }, 1);
  t.equal((await setUpAndBuild(clone)).status, 0);
  clearInterval(watch);
  t.equal(missing, 0);
  t.equal(await ask(), 'first first', 'a late import comes from the same build');
  t.equal(await (await startSmallService(t, clone))(), 'second second');
  writeVersion(clone, 'third');
  t.equal((await setUpAndBuild(clone)).status, 0);
  t.equal(readdirSync(join(clone, '.setup/builds')).length, 2, 'older builds are removed');
  writeVersion(clone, 'second');
  t.notMatch((await setUpAndBuild(clone)).stderr, /building/, 'an existing build is used again');
  t.equal(await (await startSmallService(t, clone))(), 'second second');
});

t.test('a failed build leaves the previous one in place', async (t) => {
  const clone = createSmallProject(t);
  t.equal((await setUpAndBuild(clone)).status, 0);
  writeFileSync(join(clone, 'src/now.ts'), "export const name: number = 'wrong';\n");
  const { status, stderr } = await setUpAndBuild(clone);
  t.equal(status, 1);
  t.match(stderr, /set-up failed: the build failed: src\/now.ts/);
  t.equal(await (await startSmallService(t, clone))(), 'first first');
});
