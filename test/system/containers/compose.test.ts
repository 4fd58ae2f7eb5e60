// Checks docker-compose.yml: network access, privileges, and limits that fit together.
import t from 'tap';
import { loadConfig } from '../../../src/config/config.ts';
import { readCompose } from '../../support/system/compose.ts';

const { services, networks } = readCompose();
const config = loadConfig({});

t.test('every container is read-only, has no capabilities and has limits', async (t) => {
  for (const [name, service] of Object.entries(services)) {
    t.match(service, { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] }, name);
    t.match(service.deploy.resources.limits, { cpus: /^\d+$/, memory: /^\d+[gm]$/, pids: Number }, name);
    t.ok(
      service.tmpfs.every((line) => /size=\d+[gm],noexec,nosuid,nodev$/.test(line)),
      'every writable folder has a size limit',
    );
  }
});

t.test('only the gateway is public, and only the service reaches the sidecar', async (t) => {
  t.ok(services.service.ports?.every((port) => port.startsWith('127.0.0.1:')));
  t.equal(services.sidecar.ports, undefined);
  t.strictSame(
    services.sidecar.networks.map((name) => networks[name]?.internal),
    [true],
  );
  t.notOk(services.gateway.networks.some((name) => services.sidecar.networks.includes(name)));
  t.strictSame(services.gateway.profiles, ['gateway']);
});

t.test('each container waits until its dependencies are healthy', async (t) => {
  t.match(services.service.depends_on, { sidecar: { condition: 'service_healthy' } });
  t.match(services.gateway.depends_on, { service: { condition: 'service_healthy' } });
});

t.test('the stop grace periods are longer than the drain times', async (t) => {
  const grace = (name: keyof typeof services) => Number.parseInt(services[name].stop_grace_period) * 1000;
  t.ok(grace('service') > config.shutdownGraceMs);
  t.ok(grace('sidecar') > Number(getArgument('--grace')) * 1000);
  t.ok(grace('gateway') > config.pipeline.timeouts_ms.request);
});

t.test('the limits of the sidecar fit the largest call of the service', async (t) => {
  t.equal(Number(getArgument('--max-pixels')), config.maxPixels);
  t.ok(Number(getArgument('--max-bytes')) >= 2 * Math.max(3 * config.maxPixels, config.maxUploadBytes));
  t.equal(getArgument('--workers'), services.sidecar.deploy.resources.limits.cpus, 'one worker per CPU');
  t.equal(Number(getArgument('--queue')), config.pipeline.sidecar.queue);
});

t.test('one setting changes a limit everywhere', async (t) => {
  const changed = readCompose({ IQA_MAX_UPLOAD_BYTES: '1000', IQA_MAX_PIXELS: '5' }).services;
  t.equal(Number(changed.gateway.environment?.['IQA_MAX_UPLOAD_BYTES']), 1000);
  t.ok(changed.sidecar.command?.includes('5'));
  t.equal(Number(services.gateway.environment?.['IQA_MAX_UPLOAD_BYTES']), config.maxUploadBytes);
});

function getArgument(name: string): string {
  const command = services.sidecar.command ?? [];
  return String(command[command.indexOf(name) + 1]);
}
