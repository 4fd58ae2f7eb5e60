// The OpenAPI document and Swagger UI, generated from the schemas of the routes.
import fastifySwagger from '@fastify/swagger';
import fastifySwaggerUi from '@fastify/swagger-ui';
import fastifyPlugin from 'fastify-plugin';

export const openApiPlugin = fastifyPlugin<{ version: string }>(
  async (app, { version }) => {
    await app.register(fastifySwagger, {
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'Agentic IQA',
          description: 'Answers questions about the visual quality of an image: plans, measures, explains.',
          version,
          license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        },
        tags: [
          { name: 'assessment', description: 'Questions about images.' },
          { name: 'about', description: 'Capabilities and state of the service.' },
        ],
      },
    });
    await app.register(fastifySwaggerUi, { routePrefix: '/docs' });
    app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger());
  },
  { name: 'openapi' },
);
