// Downloads a Node release from the npm registry, for tests that need another version than the one that runs them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The version that the service's image runs. */
export function readImageNodeVersion() {
  const [, version] = /^FROM node:(\d+\.\d+\.\d+)-/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? [];
  if (version === undefined)
    throw new Error('Expected a line "FROM node:<version>-…" in the Dockerfile but found none');
  return version;
}

/** Returns the path of the program; a release that was downloaded before is used again. */
export function fetchNode(version) {
  // The package behind npm's `node`, without its install script.
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(root, '.setup', `node-${version}`);
  if (!existsSync(folder)) {
    const unfinished = `${folder}-${process.pid}`;
    mkdirSync(unfinished, { recursive: true });
    const { status, stderr } = spawnSync(
      'npm',
      [
        'install',
        '--prefix',
        unfinished,
        '--no-save',
        '--no-package-lock',
        '--ignore-scripts',
        '--loglevel=error',
        '--fetch-retries=1',
        `${name}@${version}`,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' },
    );
    if (status !== 0) {
      rmSync(unfinished, { recursive: true, force: true });
      const [, code = 'npm failed'] = /^npm error code (.*)$/m.exec(stderr ?? '') ?? [];
      throw new Error(`Node ${version} cannot be downloaded (is the package registry reachable?): ${code}`);
    }
    if (existsSync(folder)) rmSync(unfinished, { recursive: true });
    else renameSync(unfinished, folder);
  }
  return join(folder, 'node_modules', name, 'bin', 'node');
}
