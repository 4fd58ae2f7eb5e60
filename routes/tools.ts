// GET /tools and /tools/{name}: the registry with the availability of each tool.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { ToolInfo, ToolList } from '../schemas/tool.ts';
import { IqaError } from '../src/errors.ts';
import { describeTools, type ToolRegistry } from '../src/tools/registry.ts';
import type { SidecarClient } from '../src/tools/sidecar/client.ts';
import { jsonResponse, problemResponses } from './openapi/responses.ts';

interface ToolRouteOptions {
  sidecar: SidecarClient;
  registry: ToolRegistry;
}

export const toolRoutes: FastifyPluginAsyncTypebox<ToolRouteOptions> = async (app, { sidecar, registry }) => {
  // Without a sidecar the list remains, with all tools unavailable.
  const describe = async () => describeTools(registry, await sidecar.tools().catch(() => null));

  app.get(
    '/tools',
    {
      schema: {
        tags: ['about'],
        summary: 'The IQA tools',
        response: { 200: jsonResponse('All tools of the registry.', ToolList) },
      },
    },
    async () => ({ tools: [...(await describe())] }),
  );

  app.get(
    '/tools/:name',
    {
      schema: {
        tags: ['about'],
        summary: 'One IQA tool, by name or alias',
        params: Type.Object({ name: Type.String({ description: 'Name or alias, case-insensitive.' }) }),
        response: { 200: jsonResponse('The tool.', ToolInfo), ...problemResponses(404) },
      },
    },
    async ({ params }) => {
      const row = registry.find(params.name);
      const tool = (await describe()).find(({ name }) => name === row?.name);
      if (!tool)
        throw new IqaError(
          'IQA_INPUT_NOT_FOUND',
          `Expected one of ${[...registry.names].join(', ')} but received "${params.name.slice(0, 60)}"`,
        );
      return tool;
    },
  );
};
