// GET /graph: the compiled pipeline as a Mermaid diagram.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import type { PipelineGraph } from '../src/pipeline/graph.ts';
import { visualizeGraph } from '../src/pipeline/mermaid.ts';
import { answer } from './openapi/responses.ts';

export const graphRoutes: FastifyPluginAsyncTypebox<{ graph: PipelineGraph }> = async (app, { graph }) => {
  const diagram = await visualizeGraph(graph);
  app.get(
    '/graph',
    {
      schema: {
        tags: ['about'],
        summary: 'The pipeline as a Mermaid diagram',
        description:
          'Drawn from the compiled graph. After the summarizer the run goes back to the planner while a replan is asked for and iteration_count is below max_replan_iterations.',
        produces: ['text/plain'],
        response: { 200: answer('Mermaid source.', Type.String({ description: 'A graph of Mermaid.' }), 'text/plain') },
      },
    },
    async (_request, reply) =>
      reply
        .type('text/plain; charset=utf-8')
        .serializer((text: unknown) => text as string)
        .send(diagram),
  );
};
