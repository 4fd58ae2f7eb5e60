// Stands in for the base images, which come from a registry that tests cannot reach: Debian 12 from its own packages, with what the tags promise.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectRoot } from '../../src/config.ts';

const BASES = join(projectRoot(), '.setup', 'bases');

/** The folder of a root file system, made once and never written to again. */
export function createBase(image: string): string {
  const kind = /^(node|python|debian):\d[\w.]*-\w+/.exec(image)?.[1];
  if (!kind) throw new Error(`Expected a base of node, python or debian pinned by version but received "${image}"`);
  const base = join(BASES, kind);
  if (existsSync(base)) return base;
  mkdirSync(BASES, { recursive: true });
  const unfinished = join(BASES, `${kind}-unfinished`);
  rmSync(unfinished, { recursive: true, force: true });
  MAKERS[kind as keyof typeof MAKERS](unfinished);
  renameSync(unfinished, base);
  return base;
}

const MAKERS = {
  // "apt" is the smallest variant that can install packages, as the official image can; like its "slim" it comes without manuals.
  debian: (folder: string) => {
    const slim = ['man', 'doc', 'locale', 'info'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
    run('mmdebstrap', ['--quiet', '--variant=apt', '--dpkgopt=force-unsafe-io', '--aptopt=Acquire::Languages "none"', ...slim, 'bookworm', folder]);
    // An engine mounts these.
    for (const file of ['etc/hosts', 'etc/resolv.conf']) writeFileSync(join(folder, file), '');
  },
  python: (folder: string) => {
    run('cp', ['--archive', createBase('debian:12.11-slim'), folder]);
    cpSync('/etc/resolv.conf', join(folder, 'etc/resolv.conf'));
    run('chroot', [folder, 'sh', '-c', 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3 python3-venv python-is-python3']);
  },
  // The official image has node and npm under /usr/local; ours are this machine's.
  node: (folder: string) => {
    run('cp', ['--archive', createBase('debian:12.11-slim'), folder]);
    const prefix = dirname(dirname(process.execPath));
    cpSync(process.execPath, join(folder, 'usr/local/bin/node'));
    cpSync(join(prefix, 'lib/node_modules/npm'), join(folder, 'usr/local/lib/node_modules/npm'), { recursive: true, verbatimSymlinks: true });
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'usr/local/bin/npm'));
  },
};

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed: ${stderr.slice(-1000)}`);
}
