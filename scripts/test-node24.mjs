// Runs the unit tests on the Node release of the service's image, Node 24, whichever Node is installed here. Its output is tap's.
import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchNode, readImageNodeVersion } from './fetch-node.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const version = readImageNodeVersion();
const node = findNode();

// The native modules first: one clear line instead of a failure in every test file.
run(
  ['--input-type=module', '--eval', "await import('sharp'); await import('better-sqlite3');"],
  'sharp or libsql does not load',
);
run(
  [join('node_modules', '.bin', 'tap'), '--disable-coverage', '--reporter=terse', ...testFiles()],
  'the unit tests failed',
);

function testFiles() {
  const chosen = process.argv.slice(2);
  return chosen.length > 0 ? chosen : ['test/unit/**/*.test.ts'];
}

function findNode() {
  try {
    return fetchNode(version);
  } catch (error) {
    return fail(error.message);
  }
}

function run(args, failure) {
  // First on the PATH too, for tests that start "node".
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env['PATH']}` };
  const { status } = spawnSync(node, args, { cwd: root, stdio: 'inherit', env });
  if (status !== 0) fail(`on Node ${version} ${failure}`);
}

function fail(text) {
  process.stderr.write(`test:node24 failed: ${text}\n`);
  process.exit(1);
}
