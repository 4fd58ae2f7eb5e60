// The service as a process that stops for ever at the beginning of a stage, HALT_AT, so that a test can kill it exactly there.
import { pino } from 'pino';
import { buildApp } from '../../../src/app.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { createSpool } from '../../../src/uploads/spool.ts';
import { createReasoners } from '../../../src/reasoners/select.ts';
import { createSidecarClient } from '../../../src/tools/sidecar/client.ts';

const METHODS = { planner: 'plan', executor: 'examine', summarizer: 'summarize' } as const;

const config = loadConfig();
const log = pino({ level: 'info' });
const method = METHODS[process.env['HALT_AT'] as keyof typeof METHODS];
const halt = () => {
  log.info({ halted: process.env['HALT_AT'] }, 'Halted');
  return new Promise<never>(() => undefined);
};
const app = await buildApp(config, {
  log,
  spool: await createSpool(config.spoolDir),
  sidecar: createSidecarClient(() => config.sidecarUrl),
  reasoners: (...parts) => {
    const select = createReasoners(...parts);
    return (backend) => {
      const source = select(backend);
      return { ...source, create: (assessment) => ({ ...source.create(assessment), [method]: halt }) };
    };
  },
});
await app.listen({ host: config.host, port: config.port });
log.info({ address: app.listeningOrigin }, 'Listening');
