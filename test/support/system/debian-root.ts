// Replaces the base images, whose registry tests cannot reach: Debian 12 from its own packages, plus the Node release that the tag names.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fetchNode } from '../../../scripts/setup/fetch-node.mjs';
import { projectRoot } from '../../../src/config/config.ts';
import { runInRoot } from './namespaces.ts';

const BASES = join(projectRoot(), '.setup', 'bases');

/** Returns the read-only folders of an overlay, upper ones first. Each is created once and kept. */
export function createBase(image: string): string {
  const [, kind = '', version = ''] = /^(node|python|debian):(\d[\d.]*)-\w+/.exec(image) ?? [];
  const create = CREATORS[kind as keyof typeof CREATORS] as (typeof CREATORS)[keyof typeof CREATORS] | undefined;
  if (!create) throw new Error(`Expected a base of node, python or debian pinned by version but received "${image}"`);
  const below = kind === 'debian' ? null : createBase('debian:12.11-slim');
  const folder = join(BASES, `${kind}-${version}`);
  if (!existsSync(folder)) {
    const unfinished = `${folder}-unfinished`;
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(BASES, { recursive: true });
    create(unfinished, { below: below ?? '', version });
    renameSync(unfinished, folder);
  }
  return below === null ? folder : `${folder}:${below}`;
}

interface BaseOptions {
  below: string;
  version: string;
}

const CREATORS = {
  // "apt" is the smallest variant that can install packages, as in the official image. "slim" images have no manuals.
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
    // Mount points that a container engine would create. As in the official image, installing a package starts no service.
    for (const file of ['etc/hosts', 'etc/resolv.conf', 'mnt/authorities.pem']) writeFileSync(join(folder, file), '');
    writeFileSync(join(folder, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  },
  // Debian's Python, whichever patch release the tag names.
  python: (folder: string, { below }: BaseOptions) => {
    const { status, stderr } = runInRoot(
      { base: below, layer: folder, environment: { DEBIAN_FRONTEND: 'noninteractive' }, workdir: '/' },
      'apt-get update -qq && apt-get install -y -qq --no-install-recommends python3 python3-venv python-is-python3 >/dev/null',
      [],
    );
    if (status !== 0) throw new Error(`Python cannot be installed: ${stderr.slice(-1000)}`);
  },
  // As in the official image, node and npm are under /usr/local. npm is this machine's.
  node: (folder: string, { version }: BaseOptions) => {
    mkdirSync(join(folder, 'usr/local/bin'), { recursive: true });
    cpSync(fetchNode(version), join(folder, 'usr/local/bin/node'));
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
