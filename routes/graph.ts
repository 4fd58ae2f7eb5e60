// GET /graph: the compiled pipeline as a Mermaid diagram.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import type { PipelineGraph } from '../src/pipeline/graph.ts';
import { visualizeGraph } from '../src/pipeline/mermaid.ts';
import { jsonResponse } from './openapi/responses.ts';

export const graphRoutes: FastifyPluginAsyncTypebox<{ graph: PipelineGraph }> = async (app, { graph }) => {
  const diagram = await visualizeGraph(graph);
  app.get(
    '/graph',
    {
      schema: {
        tags: ['about'],
        summary: 'The pipeline as a Mermaid diagram',
        description:
          'Generated from the compiled graph. The summarizer returns to the planner if it requests a replan and iteration_count is below max_replan_iterations.',
        produces: ['text/plain'],
        response: {
          200: jsonResponse('Mermaid source.', Type.String({ description: 'A Mermaid graph.' }), 'text/plain'),
        },
      },
    },
    async (_request, reply) =>
      reply
        .type('text/plain; charset=utf-8')
        .serializer((text: unknown) => text as string)
        .send(diagram),
  );
};
