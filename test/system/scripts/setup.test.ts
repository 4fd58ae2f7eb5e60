// The set-up script: on machines that lack something one clear sentence and a failing exit code; several at once; beside a running service.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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

/** A small service with the real set-up script and compiler; npm and the sidecar are not needed. */
function smallProject(t: Test): string {
  const clone = bareClone(t);
  for (const file of ['tsconfig.json', 'tsconfig.build.json']) cpSync(join(root, file), join(clone, file));
  for (const folder of ['src', 'routes', 'schemas']) {
    mkdirSync(join(clone, folder));
    writeFileSync(join(clone, folder, 'empty.ts'), 'export {};\n');
  }
  writeFileSync(
    join(clone, 'src/server.ts'),
    [
      "import { createServer } from 'node:http';",
      "import { name } from './now.ts';",
      "const server = createServer((_, response) => void import('./later.ts').then(",
      '  (later) => response.end(`${name} ${later.name}`), (error: unknown) => response.end(String(error))));',
      "server.listen(0, '127.0.0.1', () => { console.log(JSON.stringify(server.address())); });",
    ].join('\n'),
  );
  nameVersion(clone, 'first');
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  const npm = join(clone, 'bin', 'npm');
  writeFileSync(npm, `#!/bin/sh\necho called >> ${join(clone, 'npm-calls')}\nsleep 1\n`);
  chmodSync(npm, 0o755);
  return clone;
}

function nameVersion(clone: string, name: string): void {
  for (const file of ['now.ts', 'later.ts'])
    writeFileSync(join(clone, 'src', file), `export const name = '${name}';\n`);
}

async function setUpAndBuild(clone: string): Promise<{ status: number | null; stderr: string }> {
  const env = {
    ...process.env,
    PATH: `${join(clone, 'bin')}:${process.env['PATH'] ?? ''}`,
    SIDECAR_URL: 'http://sidecar:8000',
    NODE_V8_COVERAGE: '',
  };
  const child = spawn(process.execPath, [join(clone, 'scripts/setup.mjs')], {
    cwd: clone,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, stderr };
}

async function startSmallService(t: Test, clone: string): Promise<() => Promise<string>> {
  const child = spawn(process.execPath, ['dist/src/server.js'], { cwd: clone, stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill());
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { port } = JSON.parse(line.toString()) as { port: number };
  return async () => (await fetch(`http://127.0.0.1:${port}`)).text();
}

t.test('of set-ups side by side one works and the others wait', async (t) => {
  const clone = smallProject(t);
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

t.test('the lock of a process that is gone is taken over', async (t) => {
  const clone = smallProject(t);
  const { pid } = spawnSync('true');
  mkdirSync(join(clone, '.setup/lock'), { recursive: true });
  writeFileSync(join(clone, '.setup/lock', String(pid)), '');
  const { status, stderr } = await setUpAndBuild(clone);
  t.equal(status, 0, stderr);
  t.notMatch(stderr, /waiting/);
  t.strictSame(readdirSync(join(clone, '.setup/lock')), [], 'and released');
});

t.test('a rebuild leaves a running service its files, and dist is never missing', async (t) => {
  const clone = smallProject(t);
  const server = join(clone, 'dist/src/server.js');
  // As earlier versions built it.
  mkdirSync(join(clone, 'dist/src'), { recursive: true });
  writeFileSync(server, '');
  t.equal((await setUpAndBuild(clone)).status, 0);
  const ask = await startSmallService(t, clone);
  nameVersion(clone, 'second');
  let missing = 0;
  const watch = setInterval(() => {
    if (!existsSync(server)) missing += 1;
  }, 1);
  t.equal((await setUpAndBuild(clone)).status, 0);
  clearInterval(watch);
  t.equal(missing, 0);
  t.equal(await ask(), 'first first', 'what it imports late is of its own build');
  t.equal(await (await startSmallService(t, clone))(), 'second second');
  nameVersion(clone, 'third');
  t.equal((await setUpAndBuild(clone)).status, 0);
  t.equal(readdirSync(join(clone, '.setup/builds')).length, 2, 'older builds are removed');
  nameVersion(clone, 'second');
  t.notMatch((await setUpAndBuild(clone)).stderr, /building/, 'a build that is still there is used again');
  t.equal(await (await startSmallService(t, clone))(), 'second second');
});

t.test('a build that fails leaves the one before in place', async (t) => {
  const clone = smallProject(t);
  t.equal((await setUpAndBuild(clone)).status, 0);
  writeFileSync(join(clone, 'src/now.ts'), "export const name: number = 'wrong';\n");
  const { status, stderr } = await setUpAndBuild(clone);
  t.equal(status, 1);
  t.match(stderr, /set-up failed: the build failed: src\/now.ts/);
  t.equal(await (await startSmallService(t, clone))(), 'first first');
});
