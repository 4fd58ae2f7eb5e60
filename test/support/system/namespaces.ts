// A minimal container engine made of util-linux: runs a command in its own root, mount and process namespaces.
import { spawn, spawnSync, type ChildProcess, type SpawnSyncReturns } from 'node:child_process';
import { chmodSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Image } from './dockerfile.ts';

// $1 is the mount point of the root, $2 the options of the overlay; then mounts (type, options, source, target), "--" and the command. All
// mounts end with the process. Files of the machine are mounted read-only, or a command that installs packages as root would change them.
const ENTER = `
set -e
root=$1
mount -t overlay overlay -o "$2" "$root"
shift 2
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm"
mount -t tmpfs -o size=64m,mode=1777 tmpfs "$root/dev/shm"
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
while [ "$1" != -- ]; do
  mount -t "$1" -o "$2" "$3" "$root/$4"
  case $2 in bind) mount -o remount,bind,ro "$root/$4" ;; esac
  shift 4
done
shift
exec chroot "$root" "$@"`;
const ISOLATED = ['--mount', '--pid', '--fork', '--kill-child=SIGKILL', 'sh', '-c', ENTER, 'enter'];

export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

interface Mount {
  type: string;
  options: string;
  source: string;
  target: string;
}

/** Runs one RUN instruction as root, with the machine's network and a read-only view of its package caches; writes to the layer. */
export function runInRoot(
  image: Pick<Image, 'base' | 'layer' | 'environment' | 'workdir'>,
  command: string,
  caches: readonly string[],
): SpawnSyncReturns<string> {
  makeFolder(image.layer);
  const [merged = '', work = ''] = ['merged', 'work'].map((name) => makeFolder(`${image.layer}-${name}`));
  const mounts = [
    bind('/etc/resolv.conf', '/etc/resolv.conf'),
    bind('/etc/hosts', '/etc/hosts'),
    ...caches.map((target, index) => mountCache(image.layer, target, index)),
  ];
  const authorities = process.env['NODE_EXTRA_CA_CERTS'] ?? process.env['PIP_CERT'];
  if (authorities) mounts.push(bind(authorities, '/mnt/authorities.pem'));
  const options = `lowerdir=${image.base},upperdir=${image.layer},workdir=${work}`;
  const environment = {
    PATH: DEFAULT_PATH,
    HOME: '/root',
    ...networkSettings(authorities !== undefined),
    ...image.environment,
  };
  const args = [
    merged,
    options,
    ...mounts.flatMap(mountArguments),
    '--',
    ...setEnvironment(image.workdir, environment),
    'sh',
    '-c',
    command,
  ];
  return spawnSync('unshare', [...ISOLATED, ...args], { encoding: 'utf8', maxBuffer: 2 ** 26 });
}

/** Reads the machine's cache; additions are deleted with the layer. */
function mountCache(layer: string, target: string, index: number): Mount {
  const machine = makeFolder(join(homedir(), target.replace(/^\/root\//, '')));
  const [upper = '', work = ''] = ['upper', 'work'].map((name) => makeFolder(`${layer}-cache-${index}-${name}`));
  makeFolder(join(layer, target));
  return {
    type: 'overlay',
    options: `lowerdir=${machine},upperdir=${upper},workdir=${work}`,
    source: 'overlay',
    target,
  };
}

export interface RunOptions {
  environment: Record<string, string>;
  command: readonly string[];
  /** As compose writes them: path:options. */
  tmpfs: readonly string[];
  /** As compose writes them: source:target:ro. */
  volumes: readonly string[];
  /** Id of the process whose network it shares. */
  network: number;
  hosts: string;
  /** Where its output goes. */
  log: string;
}

/** Starts a container with the image's user, no capabilities, a read-only root and the given tmpfs. */
export function startContainer(
  image: Image,
  { environment, command, tmpfs, volumes, network, hosts, log }: RunOptions,
): ChildProcess {
  const folders = tmpfs.map((line): Mount => ({
    type: 'tmpfs',
    options: line.slice(line.indexOf(':') + 1),
    source: 'tmpfs',
    target: line.split(':')[0] ?? '',
  }));
  const bound = volumes.map((line) => bind(line.split(':')[0] ?? '', line.split(':')[1] ?? ''));
  // A container engine creates the mount points itself.
  for (const { target } of [...folders, ...bound]) makeFolder(join(image.layer, target));
  // A file that the image's user can open again as /dev/stdout, as in a container engine.
  const output = openSync(log, 'a');
  chmodSync(log, 0o666);
  const args = [
    makeFolder(`${image.layer}-container`),
    `lowerdir=${image.layer}:${image.base}`,
    ...[bind(hosts, '/etc/hosts'), ...folders, ...bound].flatMap(mountArguments),
    '--',
    ...dropPrivileges(image.user ?? '0:0'),
    ...setEnvironment(image.workdir, { ...image.environment, ...environment }),
    ...image.entrypoint,
    ...command,
  ];
  return spawn('nsenter', [`--net=/proc/${network}/ns/net`, 'unshare', ...ISOLATED, ...args], {
    stdio: ['ignore', output, output],
  });
}

/** Runs a command in a running container, like a health check. */
export function runInContainer(
  pid: number,
  image: Image,
  command: readonly string[],
  environment: Record<string, string> = {},
): SpawnSyncReturns<string> {
  const args = [
    ...dropPrivileges(image.user ?? '0:0'),
    ...setEnvironment(image.workdir, { ...image.environment, ...environment }),
    ...command,
  ];
  return spawnSync('nsenter', ['--target', String(pid), '--mount', '--pid', '--net', '--root', ...args], {
    encoding: 'utf8',
    timeout: 20_000,
  });
}

/** Starts a network namespace that has only a loopback device; the containers share it. */
export function startNetwork(): ChildProcess {
  return spawn(
    'unshare',
    ['--net', '--kill-child=SIGKILL', '--fork', 'sh', '-c', 'ip link set lo up && echo up && exec sleep 86400'],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
}

/** The first process of the namespace that `pid` created. */
export function firstChild(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}

function dropPrivileges(user: string): string[] {
  const [uid = '', gid = ''] = user.split(':');
  return [
    'setpriv',
    '--reuid',
    uid,
    '--regid',
    gid,
    '--clear-groups',
    '--no-new-privs',
    '--bounding-set=-all',
    '--inh-caps=-all',
  ];
}

const setEnvironment = (folder: string, environment: Record<string, string>) => [
  'env',
  '--ignore-environment',
  `--chdir=${folder}`,
  ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
];

/** Passes on this machine's proxies, registries and certificate authorities, as docker build does with proxies. */
function networkSettings(hasAuthorities: boolean): Record<string, string> {
  const names = /^(https?_proxy|no_proxy|PIP_(INDEX_URL|DEFAULT_TIMEOUT)|npm_config_registry)$/i;
  const settings = Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name))) as Record<
    string,
    string
  >;
  return hasAuthorities
    ? {
        ...settings,
        NODE_EXTRA_CA_CERTS: '/mnt/authorities.pem',
        PIP_CERT: '/mnt/authorities.pem',
        SSL_CERT_FILE: '/mnt/authorities.pem',
      }
    : settings;
}

const bind = (source: string, target: string): Mount => ({ type: 'none', options: 'bind', source, target });
const mountArguments = ({ type, options, source, target }: Mount) => [type, options, source, target];

function makeFolder(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}
