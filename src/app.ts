// The app as a plugin-like function, shared by the server and the tests: mounts routes on the parts it is given.
import fastifyMultipart from '@fastify/multipart';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { randomUUID } from 'node:crypto';
import Fastify, { LogController, type FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { assessRoutes } from '../routes/assess.ts';
import { compareRoutes } from '../routes/compare.ts';
import { errorRoutes } from '../routes/errors.ts';
import { graphRoutes } from '../routes/graph.ts';
import { healthRoutes } from '../routes/health.ts';
import { resumeRoutes } from '../routes/resume.ts';
import { schemaRoutes } from '../routes/schemas.ts';
import { toolRoutes } from '../routes/tools.ts';
import { createAdmission, type Admission, type Lane } from './assessments/admission.ts';
import { createAssessor } from './assessments/run.ts';
import type { Checkpoints } from './checkpoints/checkpoints.ts';
import { createDurableAssessor } from './checkpoints/durable-assessor.ts';
import { createComparer } from './comparisons/compare.ts';
import type { Config } from './config/config.ts';
import { createFingerprint, createIdentity } from './assessments/digest.ts';
import type { Spool } from './uploads/spool.ts';
import { registerOpenApi } from './http/openapi.ts';
import { buildGraph } from './pipeline/graph.ts';
import { refuseBrokenRequest, registerProblems, sendProblem } from './http/error-handler.ts';
import { createReasoners } from './reasoners/select.ts';
import { createReception } from './assessments/submit.ts';
import { createResultCache } from './tools/evidence/cache.ts';
import { combineClients } from './tools/sidecar/combined-client.ts';
import { loadRegistry } from './tools/registry.ts';
import type { SidecarClient } from './tools/sidecar/client.ts';
import { compileSerializer, compileValidator } from './http/validation.ts';

export interface Parts {
  log: Logger;
  spool: Spool;
  sidecar: SidecarClient;
  /** The optional tier with pyiqa. */
  pyiqa?: SidecarClient | null;
  /** Given by who wants to drain it; otherwise made from the configuration. */
  admission?: Admission;
  /** Who thinks; the shipped choice unless told. */
  reasoners?: typeof createReasoners;
}

export async function buildApp(config: Config, parts: Parts): Promise<FastifyInstance> {
  const { log, spool, admission = createAdmission(config.pipeline.admission), reasoners = createReasoners } = parts;
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: (request) => acceptedRequestId(request.headers['x-request-id']) ?? randomUUID(),
    frameworkErrors: (error, request, reply) => {
      sendProblem(error, request, reply);
    },
    clientErrorHandler: refuseBrokenRequest,
    // A body that trickles in must not hold its connection for ever.
    requestTimeout: config.pipeline.timeouts_ms.upload,
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  app.removeAllContentTypeParsers();
  registerProblems(app as unknown as FastifyInstance);
  registerRequestLog(app as unknown as FastifyInstance);
  await app.register(fastifyMultipart);
  await registerOpenApi(app as unknown as FastifyInstance, config.version);

  const registry = loadRegistry(config.root, config.pipeline.licences);
  const sidecar = combineClients(parts.sidecar, parts.pyiqa ?? null, (name) => registry.find(name)?.tier ?? 'base');
  const checkpoints = await openCheckpointsIfWanted(config, log);
  if (checkpoints) app.addHook('onClose', () => checkpoints.close());
  const graph = buildGraph(config.pipeline, log, checkpoints?.saver);
  const cache = createResultCache(config.pipeline.cache.entries);
  const selectReasoner = reasoners(config, registry);
  const assess = createAssessor({
    config: config.pipeline,
    version: config.version,
    graph,
    registry,
    client: sidecar,
    cache,
    selectReasoner,
  });
  const fingerprint = createFingerprint({ config: config.pipeline, version: config.version, registry, selectReasoner });
  const durable = checkpoints && createDurableAssessor({ assess, graph, checkpoints, fingerprint });

  const requestTimeoutMs = config.pipeline.timeouts_ms.request;
  const laneOf = (backend: string | undefined): Lane =>
    selectReasoner(backend).identity.kind === 'vlm' ? 'thinking' : 'measuring';
  const receive = createReception({
    assess: durable?.assess ?? assess,
    admission,
    requestTimeoutMs,
    limits: config,
    laneOf,
  });
  const identify = createIdentity({
    config: config.pipeline,
    version: config.version,
    registry,
    sidecar,
    selectReasoner,
  });

  const compare = createComparer({
    assess: durable?.assess ?? assess,
    admission,
    config: config.pipeline,
    limits: config,
    laneOf,
  });

  const door = { admission, spool, limits: config, uploadIdleMs: config.pipeline.timeouts_ms.upload_idle };
  await app.register(assessRoutes, { ...door, receive, identify });
  await app.register(compareRoutes, { ...door, compare });
  await app.register(resumeRoutes, {
    resumeAssessment: durable?.resumeAssessment ?? null,
    admission,
    lane: laneOf(undefined),
    requestTimeoutMs,
  });
  await app.register(healthRoutes, { sidecar, registry, cache, admission, version: config.version });
  await app.register(toolRoutes, { sidecar, registry });
  await app.register(graphRoutes, { graph });
  await app.register(schemaRoutes);
  await app.register(errorRoutes);
  return app as unknown as FastifyInstance;
}

/** The drivers of a database are loaded only by those who have asked for one. */
async function openCheckpointsIfWanted({ checkpoints: settings }: Config, log: Logger): Promise<Checkpoints | null> {
  if (settings.store === 'none') return null;
  const { openCheckpoints } = await import('./checkpoints/checkpoints.ts');
  return openCheckpoints(settings, log);
}

/** Every answer carries the request's id; one line per request says how it ended. */
function registerRequestLog(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
  });
  app.addHook('onResponse', async (request, reply) => {
    // The path alone: a query string may carry what is nobody's business.
    const path = request.url.split('?')[0];
    request.log.info(
      { method: request.method, path, status: reply.statusCode, response_ms: Math.round(reply.elapsedTime * 10) / 10 },
      'Request finished',
    );
  });
}

/** A caller's id is taken over when it is harmless in headers and logs. */
function acceptedRequestId(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header) ? header : null;
}
