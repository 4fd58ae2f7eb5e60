// Builds and runs the images of docker-compose.yml without a container engine: clean roots, real commands, real users, read-only roots.
import { once } from 'node:events';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import { readImageNodeVersion } from '../../../scripts/setup/fetch-node.mjs';
import { projectRoot } from '../../../src/config/config.ts';
import { readCompose } from '../../support/system/compose.ts';
import { createBase } from '../../support/system/debian-root.ts';
import { builderIsMissing, buildImage, type Image } from '../../support/system/dockerfile.ts';
import { makeCertificate } from '../../support/system/gateway.ts';
import {
  firstChild,
  runInContainer,
  runInRoot,
  startContainer,
  startNetwork,
} from '../../support/system/namespaces.ts';
import { makeImage } from '../../support/images/images.ts';
import { until } from '../../support/system/service.ts';

type Name = 'sidecar' | 'service' | 'gateway';
interface Running {
  image: Image;
  pid: number;
  environment: Record<string, string>;
  exited: Promise<number | null>;
  output: () => string;
}

t.test('what a stage runs as root cannot change this machine', { skip: builderIsMissing }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'images-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const stage = { base: createBase('debian:12.11-slim'), layer: join(folder, 'layer'), environment: {}, workdir: '/' };
  for (const file of ['/etc/hosts', '/etc/resolv.conf', '/proc/sys/kernel/hostname']) {
    const before = readFileSync(file, 'utf8');
    t.not(runInRoot(stage, `echo changed >> ${file}`, []).status, 0, file);
    t.equal(readFileSync(file, 'utf8'), before);
  }
  t.equal(
    runInRoot(
      stage,
      'mkdir -p /etc/ssl/certs && echo changed > /etc/ssl/certs/changed.pem && touch /root/.npm/changed',
      ['/root/.npm'],
    ).status,
    0,
  );
  t.notOk(
    existsSync('/etc/ssl/certs/changed.pem') || existsSync(join(homedir(), '.npm/changed')),
    'only its own layer',
  );
});

t.test('the images build, start, answer and drain', { skip: builderIsMissing, timeout: 600_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'images-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const { services } = readCompose();
  const images = Object.fromEntries(
    (['sidecar', 'service', 'gateway'] as const).map((name) => [
      name,
      buildImage(join(projectRoot(), services[name].build), join(folder, name)),
    ]),
  ) as Record<Name, Image>;

  t.test('the final images hold only what is needed at run time', async (t) => {
    const { service, sidecar, gateway } = images;
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(join(projectRoot(), 'package.json'), 'utf8'),
    ) as Record<string, Record<string, string>>;
    for (const name of Object.keys(dependencies ?? {}))
      t.ok(existsSync(join(service.layer, 'app/node_modules', name)), name);
    const unneeded = Object.keys(devDependencies ?? {}).filter((name) => !isNeededBy(service, name));
    t.ok(unneeded.length > 5);
    for (const name of unneeded) t.notOk(existsSync(join(service.layer, 'app/node_modules', name)), name);
    t.strictSame(readdirSync(join(service.layer, 'app')).sort(), ['configs', 'dist', 'node_modules', 'package.json']);
    t.strictSame(readdirSync(join(sidecar.layer, 'app')), ['iqa_sidecar']);
    t.strictSame(
      readdirSync(join(sidecar.layer, 'packages')).filter((name) => /^(pip|setuptools|wheel|bin|pytest)/.test(name)),
      [],
    );
    for (const image of [service, sidecar, gateway]) t.notMatch(image.user, /^0|root/, 'not root');
  });

  const network = await openNetwork(t, folder);
  const running = {} as Record<Name, Running>;
  for (const name of ['sidecar', 'service', 'gateway'] as const) {
    running[name] = await startHealthy(t, name, images[name], { network, folder });
  }
  const curl = (...args: string[]) =>
    spawnSync(
      'nsenter',
      [`--net=/proc/${network}/ns/net`, 'curl', '--silent', '--show-error', '--max-time', '60', ...args],
      { encoding: 'utf8' },
    );
  const imageFile = join(folder, 'image.png');
  writeFileSync(imageFile, await makeImage({ width: 256, height: 192 }).png().toBuffer());

  t.test('they answer through the gateway and its TLS', async (t) => {
    const trust = ['--cacert', join(folder, 'tls/fullchain.pem')];
    t.match(JSON.parse(curl('http://127.0.0.1:3000/ready').stdout), { status: 'ready' });
    const answer = JSON.parse(
      curl(...trust, '-F', `image=@${imageFile}`, 'https://localhost:8443/assess').stdout,
    ) as Assessment;
    t.match(answer, { quality_score: { value: Number }, metadata: { degraded: false } });
    for (const path of ['/docs', '/openapi.json', '/graph', '/schemas', '/tools']) {
      t.equal(
        curl(...trust, '--location', '-o', '/dev/null', '-w', '%{http_code}', `https://localhost:8443${path}`).stdout,
        '200',
        path,
      );
    }
    t.match(curl('http://127.0.0.1:8000/v1/health').stdout, /"total":2/, 'the number of workers in docker-compose.yml');
    const { image, pid } = running.service;
    t.equal(runInContainer(pid, image, ['node', '--version']).stdout, `v${readImageNodeVersion()}\n`);
  });

  t.test('only the tmpfs is writable, and no process has capabilities', async (t) => {
    for (const [name, { image, pid }] of Object.entries(running)) {
      t.match(
        runInContainer(pid, image, ['sh', '-c', 'touch /app/x /packages/x /gateway/x /x 2>&1; true']).stdout,
        /Read-only file system/,
        name,
      );
      t.match(readFileSync(`/proc/${pid}/status`, 'utf8'), /CapEff:\t0+\n[^]*CapBnd:\t0+\n[^]*NoNewPrivs:\t1/, name);
      t.equal(
        /Uid:\t(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '',
        image.user?.split(':')[0],
        name,
      );
      for (const tool of ['npm', 'npx', 'pip', 'gcc', 'curl'])
        t.not(runInContainer(pid, image, ['sh', '-c', `command -v ${tool}`]).status, 0, `${name} has no ${tool}`);
    }
  });

  t.test('on its stop signal each container finishes running requests and exits 0', async (t) => {
    const { service, gateway, sidecar } = running;
    const spool = `/proc/${service.pid}/root/spool`;
    const upload = spawn(
      'nsenter',
      [
        `--net=/proc/${network}/ns/net`,
        'curl',
        '--silent',
        '--limit-rate',
        '60k',
        '-F',
        `image=@${imageFile}`,
        'http://127.0.0.1:3000/assess',
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const answer = collect(upload);
    await until(() => readdirSync(spool, { recursive: true }).length >= 2);
    process.kill(service.pid, service.image.stopSignal as NodeJS.Signals);
    t.match(JSON.parse(await answer), { quality_score: { value: Number } }, 'the running upload');
    t.equal(await service.exited, 0);
    for (const { pid, image, exited } of [gateway, sidecar]) {
      process.kill(pid, image.stopSignal as NodeJS.Signals);
      t.equal(await exited, 0);
    }
  });
});

/** A development package can also be a dependency of a production package. */
function isNeededBy({ layer }: Image, name: string): boolean {
  const lock = JSON.parse(readFileSync(join(projectRoot(), 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  return lock.packages[`node_modules/${name}`]?.dev !== true && existsSync(layer);
}

async function openNetwork(t: Test, folder: string): Promise<number> {
  const holder = startNetwork();
  t.teardown(() => holder.kill('SIGKILL'));
  await once(holder.stdout!, 'data');
  writeFileSync(join(folder, 'hosts'), '127.0.0.1 localhost sidecar service\n');
  return firstChild(holder.pid!);
}

async function startHealthy(
  t: Test,
  name: Name,
  image: Image,
  { network, folder }: { network: number; folder: string },
): Promise<Running> {
  const {
    command,
    environment = {},
    tmpfs,
    volumes,
  } = readCompose({ GATEWAY_CERTIFICATES: createCertificates(folder) }).services[name];
  const log = join(folder, `${name}.log`);
  const child = startContainer(image, {
    environment,
    command: command ?? image.command,
    tmpfs,
    volumes: volumes ?? [],
    network,
    hosts: join(folder, 'hosts'),
    log,
  });
  // Killing the first process ends the others; killing unshare would not, because the user has changed.
  t.teardown(() => {
    if (child.exitCode === null) process.kill(firstChild(child.pid!), 'SIGKILL');
  });
  const exited = new Promise<number | null>((resolve) =>
    child.on('exit', (code) => {
      resolve(code);
    }),
  );
  const output = () => readFileSync(log, 'utf8');
  let pid = 0;
  await until(() => {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${output()}`);
    pid = firstChild(child.pid!);
    return pid > 0 && runInContainer(pid, image, image.healthcheck, environment).status === 0;
  }).catch((error: unknown) => {
    throw new Error(`${name} does not become healthy: ${output()}`, { cause: error });
  });
  return { image, pid, environment, exited, output };
}

function createCertificates(folder: string): string {
  const tls = join(folder, 'tls');
  if (!existsSync(tls)) {
    spawnSync('mkdir', [tls]);
    // Readable by the gateway's user, as docs/deployment.md requires.
    chmodSync(makeCertificate(tls).keyPath, 0o644);
  }
  return tls;
}

async function collect(child: ChildProcess): Promise<string> {
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await once(child, 'close');
  return text;
}
