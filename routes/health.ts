// GET /health: liveness. GET /ready: readiness, which requires a sidecar with loaded tools.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import type { Admission } from '../src/assessments/admission.ts';
import type { ResultCache } from '../src/tools/evidence/cache.ts';
import { describeTools, type ToolRegistry } from '../src/tools/registry.ts';
import type { SidecarClient } from '../src/tools/sidecar/client.ts';
import { IqaError } from '../src/errors.ts';
import { jsonResponse, problemResponses } from './openapi/responses.ts';

interface HealthRouteOptions {
  sidecar: SidecarClient;
  registry: ToolRegistry;
  cache: ResultCache;
  admission: Admission;
  version: string;
}

const Health = Type.Object(
  {
    status: Type.Literal('ok', { description: 'Constant `ok`.' }),
    version: Type.String({ description: 'Version of the service.' }),
    uptime_s: Type.Number({ description: 'Seconds since the process started.' }),
  },
  { description: 'Liveness.' },
);

const Ready = Type.Object(
  {
    status: Type.Literal('ready', { description: 'Constant `ready`.' }),
    tools: Type.Integer({ description: 'Number of available tools.' }),
    sidecar: Type.String({ description: 'Version of the sidecar.' }),
    cache: Type.Object(
      {
        entries: Type.Integer({ description: 'Cached results.' }),
        hits: Type.Integer({ description: 'Hits since the start.' }),
        misses: Type.Integer({ description: 'Misses since the start.' }),
      },
      { description: 'Cache of tool results.' },
    ),
    load: Type.Object(
      {
        running: Type.Integer({ description: 'Running assessments.' }),
        waiting: Type.Integer({ description: 'Requests that upload or wait in the queue.' }),
      },
      { description: 'Current load.' },
    ),
  },
  { description: 'Readiness.' },
);

export const healthRoutes: FastifyPluginAsyncTypebox<HealthRouteOptions> = async (
  app,
  { sidecar, registry, cache, admission, version },
) => {
  app.get(
    '/health',
    { schema: { tags: ['about'], summary: 'Liveness', response: { 200: jsonResponse('Process is alive.', Health) } } },
    () => ({ status: 'ok' as const, version, uptime_s: Math.round(process.uptime()) }),
  );

  app.get(
    '/ready',
    {
      schema: {
        tags: ['about'],
        summary: 'Readiness',
        response: { 200: jsonResponse('Service is ready.', Ready), ...problemResponses(503) },
      },
    },
    async () => {
      if (admission.isDraining()) throw new IqaError('IQA_BUSY', 'The service is shutting down', { retryAfter: 5 });
      await sidecar.health();
      const offered = await sidecar.tools();
      const tools = describeTools(registry, offered).filter((tool) => tool.available).length;
      if (tools === 0)
        throw new IqaError('IQA_TOOL_UNAVAILABLE', 'The sidecar responds but offers no tool of the registry', {
          retryAfter: 5,
        });
      return {
        status: 'ready' as const,
        tools,
        sidecar: offered.engine,
        cache: cache.statistics(),
        load: admission.statistics(),
      };
    },
  );
};
