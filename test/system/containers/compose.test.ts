// What docker-compose.yml promises operators: who reaches whom, how little each container may do, and limits that fit each other.
import t from 'tap';
import { loadConfig } from '../../../src/config/config.ts';
import { readCompose } from '../../support/compose.ts';

const { services, networks } = readCompose();
const config = loadConfig({});

t.test('every container is read-only, without capabilities, and bounded', async (t) => {
  for (const [name, service] of Object.entries(services)) {
    t.match(service, { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] }, name);
    t.match(service.deploy.resources.limits, { cpus: /^\d+$/, memory: /^\d+[gm]$/, pids: Number }, name);
    t.ok(
      service.tmpfs.every((line) => /size=\d+[gm],noexec,nosuid,nodev$/.test(line)),
      'what it can write to is bounded too',
    );
  }
});

t.test('only the gateway is open to the world, the sidecar to nobody but the service', async (t) => {
  t.ok(services.service.ports?.every((port) => port.startsWith('127.0.0.1:')));
  t.equal(services.sidecar.ports, undefined);
  t.strictSame(
    services.sidecar.networks.map((name) => networks[name]?.internal),
    [true],
  );
  t.notOk(services.gateway.networks.some((name) => services.sidecar.networks.includes(name)));
  t.strictSame(services.gateway.profiles, ['gateway']);
});

t.test('each waits until what it needs is healthy', async (t) => {
  t.match(services.service.depends_on, { sidecar: { condition: 'service_healthy' } });
  t.match(services.gateway.depends_on, { service: { condition: 'service_healthy' } });
});

t.test('running requests get their time before anything is killed', async (t) => {
  const grace = (name: keyof typeof services) => Number.parseInt(services[name].stop_grace_period) * 1000;
  t.ok(grace('service') > config.shutdownGraceMs);
  t.ok(grace('sidecar') > Number(argument('--grace')) * 1000);
  t.ok(grace('gateway') > config.pipeline.timeouts_ms.request);
});

t.test('the sidecar takes as much as the service may send', async (t) => {
  t.equal(Number(argument('--max-pixels')), config.maxPixels);
  t.ok(Number(argument('--max-bytes')) >= 2 * Math.max(3 * config.maxPixels, config.maxUploadBytes));
  t.equal(argument('--workers'), services.sidecar.deploy.resources.limits.cpus, 'a worker for each processor');
  t.equal(Number(argument('--queue')), config.pipeline.sidecar.queue);
});

t.test('one setting changes a limit everywhere', async (t) => {
  const changed = readCompose({ IQA_MAX_UPLOAD_BYTES: '1000', IQA_MAX_PIXELS: '5' }).services;
  t.equal(Number(changed.gateway.environment?.['IQA_MAX_UPLOAD_BYTES']), 1000);
  t.ok(changed.sidecar.command?.includes('5'));
  t.equal(Number(services.gateway.environment?.['IQA_MAX_UPLOAD_BYTES']), config.maxUploadBytes);
});

function argument(name: string): string {
  const command = services.sidecar.command ?? [];
  return String(command[command.indexOf(name) + 1]);
}
