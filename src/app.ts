// Builds the Fastify app for the server and for tests: registers plugins and routes on the given dependencies.
import fastifyMultipart from '@fastify/multipart';
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import { assessRoutes } from '../routes/assess.ts';
import { compareRoutes } from '../routes/compare.ts';
import { errorRoutes } from '../routes/errors.ts';
import { graphRoutes } from '../routes/graph.ts';
import { healthRoutes } from '../routes/health.ts';
import { resumeRoutes } from '../routes/resume.ts';
import { schemaRoutes } from '../routes/schemas.ts';
import { toolRoutes } from '../routes/tools.ts';
import { createAdmission, type Admission } from './assessments/admission.ts';
import { createVersionFingerprint } from './assessments/digest.ts';
import { createRunAssessment } from './assessments/run.ts';
import { createAssessments } from './assessments/submit.ts';
import type { Checkpoints } from './checkpoints/checkpoints.ts';
import { createDurableRuns } from './checkpoints/durable-runs.ts';
import { createCompareImages } from './comparisons/compare.ts';
import type { Config } from './config/config.ts';
import { errorHandlerPlugin, refuseMalformedHttp, sendProblem } from './http/error-handler.ts';
import { openApiPlugin } from './http/openapi.ts';
import { createRequestId, requestLogPlugin } from './http/request-log.ts';
import { compileSerializer, compileValidator } from './http/validation.ts';
import { buildGraph } from './pipeline/graph.ts';
import { createReasoners } from './reasoners/select.ts';
import { createResultCache } from './tools/evidence/cache.ts';
import { loadRegistry } from './tools/registry.ts';
import type { SidecarClient } from './tools/sidecar/client.ts';
import { combineClients } from './tools/sidecar/combined-client.ts';
import type { Spool } from './uploads/spool.ts';

export interface AppDependencies {
  log: FastifyBaseLogger;
  spool: Spool;
  sidecar: SidecarClient;
  /** The optional sidecar with pyiqa. */
  pyiqa?: SidecarClient | null;
  /** From a caller that drains it; by default created from the configuration. */
  admission?: Admission;
  /** Replaced in tests. */
  reasoners?: typeof createReasoners;
}

export async function buildApp(config: Config, dependencies: AppDependencies): Promise<FastifyInstance> {
  const {
    log,
    spool,
    admission = createAdmission(config.pipeline.admission),
    reasoners = createReasoners,
  } = dependencies;
  const { pipeline, version } = config;
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: createRequestId,
    frameworkErrors: (error, request, reply) => {
      sendProblem(error, request, reply);
    },
    clientErrorHandler: refuseMalformedHttp,
    // A slow body must not hold its connection forever.
    requestTimeout: pipeline.timeouts_ms.upload,
  });
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  app.removeAllContentTypeParsers();
  await app.register(errorHandlerPlugin);
  await app.register(requestLogPlugin);
  await app.register(fastifyMultipart);
  await app.register(openApiPlugin, { version });

  const registry = loadRegistry(config.root, pipeline.licences);
  const sidecar = combineClients(
    dependencies.sidecar,
    dependencies.pyiqa ?? null,
    (name) => registry.find(name)?.tier ?? 'base',
  );
  const selectReasoner = reasoners(config, registry);
  const fingerprint = createVersionFingerprint(pipeline, version, registry);
  const cache = createResultCache(pipeline.cache.entries);
  const checkpoints = await openConfiguredCheckpoints(config, log);
  if (checkpoints) app.addHook('onClose', () => checkpoints.close());
  const graph = buildGraph(pipeline, log, checkpoints?.saver);
  const runOnce = createRunAssessment({ config: pipeline, version, graph, registry, sidecar, cache });
  const durable = checkpoints && createDurableRuns({ run: runOnce, graph, checkpoints, fingerprint, selectReasoner });
  const run = durable?.run ?? runOnce;
  const assessments = createAssessments({
    run,
    resume: durable?.resume ?? null,
    admission,
    sidecar,
    selectReasoner,
    fingerprint,
    limits: config,
    requestTimeoutMs: pipeline.timeouts_ms.request,
  });
  const compare = createCompareImages({ run, admission, selectReasoner, config: pipeline, limits: config });

  const { maxUploadBytes } = config;
  const uploads = { admission, spool, maxUploadBytes, uploadIdleMs: pipeline.timeouts_ms.upload_idle };
  await app.register(assessRoutes, { uploads, assessments });
  await app.register(compareRoutes, { uploads, compare });
  await app.register(resumeRoutes, { assessments, admission });
  await app.register(healthRoutes, { sidecar, registry, cache, admission, version });
  await app.register(toolRoutes, { sidecar, registry });
  await app.register(graphRoutes, { graph });
  await app.register(schemaRoutes);
  await app.register(errorRoutes);
  return app;
}

/** Loads the database drivers only if checkpoints are on. */
async function openConfiguredCheckpoints(
  { checkpoints: settings }: Config,
  log: FastifyBaseLogger,
): Promise<Checkpoints | null> {
  if (settings.store === 'none') return null;
  const { openCheckpoints } = await import('./checkpoints/checkpoints.ts');
  return openCheckpoints(settings, log);
}
