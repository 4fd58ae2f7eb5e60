// Starts nginx on free ports with the production configuration, rendered by gateway/start.sh.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { Agent } from 'undici';
import { projectRoot } from '../../../src/config/config.ts';
import { until } from './service.ts';

export interface Gateway {
  child: ChildProcess;
  exited: Promise<number | null>;
  /** Where it serves: https with TLS, http without. */
  address: string;
  plainAddress: string;
  healthPort: number;
  /** Trusts only the certificate of the test. */
  dispatcher: Agent;
  /** Its access log so far. */
  logs: () => Record<string, unknown>[];
}

/** For tap's `skip`: false when nginx and openssl are there. In CI a skipped test counts as failed. */
export const gatewayIsMissing = ['nginx', 'openssl'].every(
  (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0,
)
  ? false
  : 'needs nginx and openssl (apt install nginx openssl)';

const SCRIPT = join(projectRoot(), 'gateway/start.sh');

export async function startGateway(
  t: Test,
  upstream: string,
  environment: Record<string, string> = {},
): Promise<Gateway> {
  // Not t.testdir(), of which a test has but one.
  const dir = mkdtempSync(join(tmpdir(), 'gateway-'));
  t.teardown(() => {
    rmSync(dir, { recursive: true });
  });
  const accessLog = join(dir, 'access.log');
  const [http = 0, https = 0, health = 0] = await freePorts(3);
  const certificate = makeCertificate(dir);
  const child = spawn('sh', [SCRIPT], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      GATEWAY_RUN_DIR: join(dir, 'run'),
      GATEWAY_UPSTREAM: new URL(upstream).host,
      GATEWAY_HTTP_PORT: String(http),
      GATEWAY_HTTPS_PORT: String(https),
      GATEWAY_HEALTH_PORT: String(health),
      // Node's pipes are sockets, which nginx cannot open as /dev/stdout.
      GATEWAY_ACCESS_LOG: accessLog,
      GATEWAY_CERTIFICATE: certificate.path,
      GATEWAY_CERTIFICATE_KEY: certificate.keyPath,
      ...environment,
    },
  });
  const exited = new Promise<number | null>((resolve) =>
    child.on('exit', (code) => {
      resolve(code);
    }),
  );
  const dispatcher = new Agent({ connect: { ca: certificate.pem } });
  t.teardown(async () => {
    await dispatcher.destroy();
    child.kill('SIGTERM');
    await exited;
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`The gateway ended: ${errors}`);
    return (await fetch(`http://127.0.0.1:${health}/health`).catch(() => null))?.status === 200;
  });
  const plainAddress = `http://127.0.0.1:${http}`;
  return {
    child,
    exited,
    plainAddress,
    healthPort: health,
    dispatcher,
    logs: () =>
      readFileSync(accessLog, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    address: environment['GATEWAY_TLS'] === 'off' ? plainAddress : `https://localhost:${https}`,
  };
}

/** Runs the start script with settings that it must refuse. */
export function refuseGateway(environment: Record<string, string>): { status: number | null; stderr: string } {
  return spawnSync('sh', [SCRIPT], {
    env: { PATH: process.env['PATH'], GATEWAY_RUN_DIR: '/nowhere', ...environment },
    encoding: 'utf8',
    timeout: 10_000,
  });
}

export function makeCertificate(dir: string): { path: string; keyPath: string; pem: string } {
  const [path, keyPath] = [join(dir, 'fullchain.pem'), join(dir, 'privkey.pem')];
  const wanted = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost',
  ];
  const { status, stderr, stdout } = spawnSync(
    'openssl',
    ['req', '-x509', ...wanted, '-keyout', keyPath, '-out', path],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`openssl failed: ${stdout}${stderr}`);
  return { path, keyPath, pem: readFileSync(path, 'utf8') };
}

async function freePorts(count: number): Promise<number[]> {
  // All at the same time, so that they differ.
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer().listen(0, '127.0.0.1', () => {
            resolve(server);
          });
        }),
    ),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
