// Runs the unit tests on the Node release of the service's image, Node 24, whichever Node is installed here.
import { spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchNode, readImageNodeVersion } from './setup/fetch-node.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const version = readImageNodeVersion();
const node = findNode();

// The native modules first: one clear line instead of a failure in every test file.
run(
  ['--input-type=module', '--eval', "await import('sharp'); await import('better-sqlite3');"],
  'sharp or libsql does not load',
);
run(['scripts/check.mjs', 'unit'], 'the unit tests failed');

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
