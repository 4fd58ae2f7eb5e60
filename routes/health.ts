// GET /health says that the process lives; GET /ready that it can answer: the sidecar responds and its tools are loaded.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import type { Admission } from '../src/assessments/admission.ts';
import type { ResultCache } from '../src/tools/evidence/cache.ts';
import { describeTools, type ToolRegistry } from '../src/tools/registry.ts';
import type { SidecarClient } from '../src/tools/sidecar/client.ts';
import { IqaError } from '../src/errors.ts';
import { answer, problems } from './openapi/responses.ts';

export interface HealthRouteOptions {
  sidecar: SidecarClient;
  registry: ToolRegistry;
  cache: ResultCache;
  admission: Admission;
  version: string;
}

const Health = Type.Object(
  {
    status: Type.Literal('ok', { description: 'Always this.' }),
    version: Type.String({ description: 'Version of the service.' }),
    uptime_s: Type.Number({ description: 'Seconds since the start.' }),
  },
  { description: 'The process is alive.' },
);

const Ready = Type.Object(
  {
    status: Type.Literal('ready', { description: 'Always this.' }),
    tools: Type.Integer({ description: 'Tools that can be run.' }),
    sidecar: Type.String({ description: 'Version of the sidecar.' }),
    cache: Type.Object(
      {
        entries: Type.Integer({ description: 'Results kept.' }),
        hits: Type.Integer({ description: 'Found so far.' }),
        misses: Type.Integer({ description: 'Not found so far.' }),
      },
      { description: 'The tool cache.' },
    ),
    load: Type.Object(
      {
        running: Type.Integer({ description: 'Assessments at work.' }),
        waiting: Type.Integer({ description: 'Requests that upload or wait for their turn.' }),
      },
      { description: 'How busy it is.' },
    ),
  },
  { description: 'The service can answer.' },
);

export const healthRoutes: FastifyPluginAsyncTypebox<HealthRouteOptions> = async (
  app,
  { sidecar, registry, cache, admission, version },
) => {
  app.get(
    '/health',
    {
      schema: {
        tags: ['about'],
        summary: 'Whether the process is alive',
        response: { 200: answer('It lives.', Health) },
      },
    },
    () => ({ status: 'ok' as const, version, uptime_s: Math.round(process.uptime()) }),
  );

  app.get(
    '/ready',
    {
      schema: {
        tags: ['about'],
        summary: 'Whether it can answer',
        response: { 200: answer('It can answer.', Ready), ...problems(503) },
      },
    },
    async () => {
      if (admission.isDraining()) throw new IqaError('IQA_BUSY', 'The service is stopping', { retryAfter: 5 });
      await sidecar.health();
      const offered = await sidecar.tools();
      const tools = describeTools(registry, offered).filter((tool) => tool.available).length;
      if (tools === 0)
        throw new IqaError('IQA_TOOL_UNAVAILABLE', 'The sidecar answers but offers no tool of the registry', {
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
