// GET /tools and /tools/{name}: the registry, and what of it can be run now.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { ToolInfo, ToolList } from '../schemas/tool.ts';
import { IqaError } from '../src/errors.ts';
import { describeTools, type ToolRegistry } from '../src/tools/registry.ts';
import type { SidecarClient } from '../src/tools/sidecar/client.ts';
import { answer, problems } from './openapi/responses.ts';

export interface ToolRouteOptions {
  sidecar: SidecarClient;
  registry: ToolRegistry;
}

export const toolRoutes: FastifyPluginAsyncTypebox<ToolRouteOptions> = async (app, { sidecar, registry }) => {
  // A sidecar that is down makes the tools unavailable, not the list.
  const describe = async () => describeTools(registry, await sidecar.tools().catch(() => null));

  app.get(
    '/tools',
    {
      schema: {
        tags: ['about'],
        summary: 'The IQA tools',
        response: { 200: answer('All tools of the registry.', ToolList) },
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
        params: Type.Object({ name: Type.String({ description: 'Name or alias, in any case.' }) }),
        response: { 200: answer('The tool.', ToolInfo), ...problems(404) },
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
