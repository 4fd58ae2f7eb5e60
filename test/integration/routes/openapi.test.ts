// The OpenAPI document: every operation, parameter, header, status and field has a description.
import t from 'tap';
import { buildTestApp } from '../../support/app.ts';

type Node = Record<string, unknown>;
const { app } = await buildTestApp(t, { origin: () => null });
const document = (await app.inject('/openapi.json')).json<{ paths: Record<string, Record<string, Node>> }>();
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);
const describes = (node: unknown): boolean =>
  isNode(node) && typeof node['description'] === 'string' && node['description'].length > 0;

/** Paths of the properties below this schema without a description. */
function findUndescribed(schema: unknown, path: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap((item) => findUndescribed(item, path));
  if (!isNode(schema)) return [];
  const own = isNode(schema['properties']) ? Object.entries(schema['properties']) : [];
  return [
    ...own.filter(([, property]) => !describes(property) && !isConstant(property)).map(([name]) => `${path}/${name}`),
    ...own.flatMap(([name, property]) => findUndescribed(property, `${path}/${name}`)),
    ...['items', 'anyOf', 'oneOf', 'allOf'].flatMap((key) => findUndescribed(schema[key], path)),
  ];
}
const isConstant = (schema: unknown): boolean => isNode(schema) && 'const' in schema;

t.test('operations have a summary, parameters and headers a description, statuses a text', async (t) => {
  for (const { name, operation } of operations) {
    t.type(operation['summary'], 'string', name);
    for (const parameter of (operation['parameters'] ?? []) as Node[])
      t.ok(describes(parameter), `${name}: parameter ${String(parameter['name'])}`);
    for (const [status, response] of Object.entries(operation['responses'] as Record<string, Node>)) {
      t.ok(describes(response) && response['description'] !== 'Default Response', `${name}: ${status}`);
      for (const [header, field] of Object.entries((response['headers'] ?? {}) as Node))
        t.ok(describes(field) || describes((field as Node)['schema']), `${name}: ${status} ${header}`);
      t.ok('x-request-id' in ((response['headers'] ?? {}) as Node), `${name}: ${status} has the request id`);
    }
  }
});

t.test('every field of every body is described', async (t) => {
  for (const { name, operation } of operations) {
    const bodies = [operation['requestBody'], ...Object.values(operation['responses'] as Node)].filter(isNode);
    for (const body of bodies) {
      for (const [media, { schema }] of Object.entries((body['content'] ?? {}) as Record<string, Node>))
        t.strictSame(findUndescribed(schema, ''), [], `${name} ${media}`);
    }
  }
});

t.test('POST /assess: forms and JSON in, JSON and events out', async (t) => {
  const assess = operations.find(({ name }) => name === 'POST /assess')?.operation as {
    requestBody: { content: Node };
    responses: Record<string, { content: Node; headers: Node }>;
  };
  t.strictSame(Object.keys(assess.requestBody.content), ['multipart/form-data', 'application/json']);
  t.strictSame(Object.keys(assess.responses['200']?.content ?? {}), ['application/json', 'text/event-stream']);
  t.ok('etag' in (assess.responses['200']?.headers ?? {}));
  t.ok('retry-after' in (assess.responses['503']?.headers ?? {}));
});
