// Stands in for the base images, which come from a registry that tests cannot reach: Debian 12 from its own packages, with what the tags promise.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectRoot } from '../../src/config/config.ts';
import { runInRoot } from './namespaces.ts';

const BASES = join(projectRoot(), '.setup', 'bases');

/** Folders for an overlay, the upper ones first, made once and never written to again. */
export function createBase(image: string): string {
  const kind = /^(node|python|debian):\d[\w.]*-\w+/.exec(image)?.[1] as keyof typeof MAKERS | undefined;
  if (!kind) throw new Error(`Expected a base of node, python or debian pinned by version but received "${image}"`);
  const below = kind === 'debian' ? null : createBase('debian:12.11-slim');
  const folder = join(BASES, kind);
  if (!existsSync(folder)) {
    const unfinished = join(BASES, `${kind}-unfinished`);
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(BASES, { recursive: true });
    MAKERS[kind](unfinished, below ?? '');
    renameSync(unfinished, folder);
  }
  return below === null ? folder : `${folder}:${below}`;
}

const MAKERS = {
  // "apt" is the smallest variant that can install packages, as the official image can; like its "slim" it comes without manuals.
  debian: (folder: string) => {
    const slim = ['man', 'doc', 'locale', 'info'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
    run('mmdebstrap', [
      '--quiet',
      '--variant=apt',
      '--dpkgopt=force-unsafe-io',
      '--aptopt=Acquire::Languages "none"',
      ...slim,
      'bookworm',
      folder,
    ]);
    // Places for what an engine mounts, and as in the official image no service is started by being installed.
    for (const file of ['etc/hosts', 'etc/resolv.conf', 'mnt/authorities.pem']) writeFileSync(join(folder, file), '');
    writeFileSync(join(folder, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  },
  python: (folder: string, below: string) => {
    const { status, stderr } = runInRoot(
      { base: below, layer: folder, environment: { DEBIAN_FRONTEND: 'noninteractive' }, workdir: '/' },
      'apt-get update -qq && apt-get install -y -qq --no-install-recommends python3 python3-venv python-is-python3 >/dev/null',
      [],
    );
    if (status !== 0) throw new Error(`Python was not installed: ${stderr.slice(-1000)}`);
  },
  // The official image has node and npm under /usr/local; ours are this machine's.
  node: (folder: string) => {
    mkdirSync(join(folder, 'usr/local/bin'), { recursive: true });
    cpSync(process.execPath, join(folder, 'usr/local/bin/node'));
    cpSync(
      join(dirname(dirname(process.execPath)), 'lib/node_modules/npm'),
      join(folder, 'usr/local/lib/node_modules/npm'),
      { recursive: true, verbatimSymlinks: true },
    );
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'usr/local/bin/npm'));
  },
};

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed: ${stderr.slice(-1000)}`);
}
