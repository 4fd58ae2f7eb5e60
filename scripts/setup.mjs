// Prepares a bare clone: node modules, the sidecar's Python environment, the build. A fast no-op when everything is current.
// Several processes may run it at once, also next to a running service: a lock lets one of them work, and each build has its own folder.
// Plain JavaScript without dependencies, because it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import './setup/load-env.mjs';
import { takeLock } from './setup/lock.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamps = join(root, '.setup');
const venv = join(root, 'sidecar', '.venv');
// A second environment keeps the dependencies of Schemathesis and the container linters out of the sidecar's.
const checks = join(stamps, 'checks-env');
const builds = join(stamps, 'builds');
const KEPT_BUILDS = 2;
const options = new Set(process.argv.slice(2));

mkdirSync(stamps, { recursive: true });
await takeLock(stamps, (pid) => say(`waiting for process ${pid}, which is setting up`));
setUp();

function setUp() {
  step(
    'node-modules',
    ['package-lock.json', 'package.json'],
    () => existsSync(join(root, 'node_modules', '.package-lock.json')),
    installNodeModules,
  );
  // With SIDECAR_URL the sidecar runs elsewhere and needs no Python here.
  if (!process.env['SIDECAR_URL'] || options.has('--dev')) {
    step(
      'python',
      ['sidecar/requirements.lock'],
      () => existsSync(join(venv, 'bin', 'python')),
      () => installPython('requirements.lock', true),
    );
    if (options.has('--dev')) {
      step(
        'python-dev',
        ['sidecar/requirements-dev.lock', 'sidecar/requirements.lock'],
        () => existsSync(join(venv, 'bin', 'pytest')),
        () => installPython('requirements-dev.lock', false),
      );
      step(
        'checks',
        ['test/openapi/requirements.lock'],
        () => existsSync(join(checks, 'bin', 'schemathesis')),
        installChecks,
      );
    }
    makeNetworks();
  }
  if (!options.has('--no-build')) build();
}

/** Runs `work` if its result is missing or an input has changed since it last succeeded. */
function step(name, inputs, isPresent, work) {
  const stamp = join(stamps, name);
  const digest = hashFiles(inputs);
  if (isPresent() && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  rmSync(stamp, { force: true });
  work();
  writeFileSync(stamp, digest);
}

function hashFiles(paths) {
  const hash = createHash('sha256').update(process.version).update(root);
  const add = (path) => {
    const full = join(root, path);
    hash.update(path).update(readFileSync(full));
  };
  const walk = (path) => {
    for (const entry of readdirSync(join(root, path), { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      if (entry.isDirectory()) walk(join(path, entry.name));
      else add(join(path, entry.name));
    }
  };
  for (const path of paths) {
    if (/\.[a-z]+$/.test(path)) add(path);
    else walk(path);
  }
  return hash.digest('hex');
}

function installNodeModules() {
  say('installing node modules');
  // With development packages, because the build needs the compiler, also under NODE_ENV=production.
  run(
    'npm',
    [
      'ci',
      '--include=dev',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      '--fetch-retries=1',
      '--fetch-retry-mintimeout=1000',
      '--fetch-retry-maxtimeout=3000',
    ],
    root,
    'node modules cannot be installed (is the package registry reachable?)',
  );
}

function installPython(lock, fresh) {
  if (fresh) createEnvironment(venv, "the sidecar's Python environment");
  installPackages(venv, join('sidecar', lock), "the sidecar's Python packages");
}

function installChecks() {
  createEnvironment(checks, "the checks' Python environment");
  installPackages(checks, join('test', 'openapi', 'requirements.lock'), "the checks' Python packages");
}

function createEnvironment(folder, what) {
  const python = findPython();
  say(`creating ${what} with ${python}`);
  rmSync(folder, { recursive: true, force: true });
  run(
    python,
    ['-m', 'venv', folder],
    root,
    `${python} cannot create a virtual environment (on Debian and Ubuntu: apt install python3-venv)`,
  );
}

function installPackages(folder, lock, what) {
  say(`installing Python packages (${lock})`);
  run(
    join(folder, 'bin', 'python'),
    [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--retries',
      '1',
      '--require-hashes',
      '--requirement',
      join(root, lock),
    ],
    root,
    `${what} cannot be installed (is the package index reachable?)`,
  );
}

/** Builds the networks of the deep tools. Without them only those tools are unavailable, so a failure is a warning. */
function makeNetworks() {
  const optional = options.has('--dists') || options.has('--dev') ? ['dists'] : [];
  const { status, stderr } = spawnSync(join(venv, 'bin', 'python'), ['-m', 'iqa_sidecar.networks', ...optional], {
    cwd: join(root, 'sidecar'),
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  const reason = stderr?.trim().split('\n').at(-1) ?? '';
  if (status !== 0)
    say(
      `the weights of the deep tools cannot be fetched (${reason.replace(/^error: /, '')}); LPIPS and the other deep tools stay unavailable until "npm run setup" succeeds`,
    );
}

function findPython() {
  const chosen = process.env['IQA_PYTHON'];
  const candidates = chosen ? [chosen] : ['python3', 'python'];
  const seen = [];
  for (const candidate of candidates) {
    const { status, stdout } = spawnSync(candidate, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], {
      encoding: 'utf8',
    });
    if (status !== 0) continue;
    const version = stdout.trim();
    const [major, minor] = version.split('.').map(Number);
    if (major === 3 && minor >= 10) return candidate;
    seen.push(`${candidate} is ${version}`);
  }
  return fail(
    seen.length > 0
      ? `Expected Python 3.10 or newer for the sidecar but ${seen.join(', ')}; set IQA_PYTHON to a newer one`
      : `Expected Python 3.10 or newer for the sidecar but found ${chosen ? `no Python at ${chosen}` : 'none on the PATH'}; install it or set IQA_PYTHON`,
  );
}

/** Each build has its own folder and `dist` is a link to the current one, so a running service keeps the files it was started from. */
function build() {
  const name = hashFiles([
    'tsconfig.json',
    'tsconfig.build.json',
    'package-lock.json',
    'src',
    'routes',
    'schemas',
  ]).slice(0, 16);
  const folder = join(builds, name);
  const target = join('.setup', 'builds', name);
  const dist = join(root, 'dist');
  if (!existsSync(join(folder, 'src', 'server.js'))) compile(folder);
  if (readLink(dist) === target) return;
  const link = join(stamps, 'dist');
  rmSync(link, { force: true });
  symlinkSync(target, link);
  // Earlier versions built into a real folder, which rename() cannot replace by a link.
  if (existsSync(dist) && readLink(dist) === null) renameSync(dist, join(builds, `moved-${Date.now()}`));
  renameSync(link, dist);
  const now = new Date();
  utimesSync(folder, now, now);
  removeOldBuilds();
}

function compile(folder) {
  say('building');
  const unfinished = join(stamps, 'build-unfinished');
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(builds, { recursive: true });
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  run(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', unfinished], root, 'the build failed');
  rmSync(folder, { recursive: true, force: true });
  renameSync(unfinished, folder);
}

function readLink(path) {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : null;
}

/** Keeps the previous build: a service may still be running from it. */
function removeOldBuilds() {
  const newestFirst = readdirSync(builds)
    .map((name) => join(builds, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const folder of newestFirst.slice(KEPT_BUILDS)) rmSync(folder, { recursive: true, force: true });
}

/** Hides the output of the command; when it fails, its first line about an error is added to the message. */
function run(command, args, cwd, failure) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (status === 0) return;
  const errors = `${stdout ?? ''}\n${stderr ?? ''}`
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /error|failed|not found|no module|cannot/i.test(line));
  fail(`${failure}${error ? `: ${error.message}` : errors.length > 0 ? `: ${errors[0]}` : ''}`);
}

function say(text) {
  process.stderr.write(`set-up: ${text}\n`);
}

function fail(text) {
  process.stderr.write(`set-up failed: ${text}\n`);
  process.exit(1);
}
