// The routes about the service: health, readiness, tools, schemas, graph, documentation, unknown paths.
import t from 'tap';
import type { Problem } from '../../../schemas/responses/problem.ts';
import type { ToolInfo } from '../../../schemas/tool.ts';
import { ERROR_KINDS } from '../../../src/errors.ts';
import { buildTestApp, formRequest } from '../../support/app.ts';
import { registry } from '../../support/run.ts';
import { makeImage } from '../../support/images/images.ts';

const { app } = await buildTestApp(t);
const get = async (url: string) => app.inject(url);

/** The tools under permissive licences. */
const baseRows = registry.rows.filter((row) => row.tier === 'base');

t.test('/health and /ready', async (t) => {
  t.match((await get('/health')).json(), { status: 'ok', version: /^\d+\.\d+\.\d+/, uptime_s: Number });
  const ready = await get('/ready');
  t.equal(ready.statusCode, 200);
  t.match(ready.json(), {
    status: 'ready',
    tools: baseRows.length,
    cache: { entries: Number, hits: Number, misses: Number },
  });
});

t.test(
  'without a sidecar: live, not ready, tools listed as unavailable, assessments 503 with Retry-After',
  async (t) => {
    const { app: withoutSidecar } = await buildTestApp(t, { origin: () => null });
    t.equal((await withoutSidecar.inject('/health')).statusCode, 200);
    const ready = await withoutSidecar.inject('/ready');
    t.equal(ready.statusCode, 503);
    t.equal(ready.headers['retry-after'], '1');
    t.match(ready.json(), { code: 'IQA_TOOL_UNAVAILABLE' });
    const { tools } = (await withoutSidecar.inject('/tools')).json<{ tools: ToolInfo[] }>();
    t.ok(tools.length > 0 && tools.every((tool) => !tool.available && tool.reason === 'The sidecar does not respond'));
    const response = await withoutSidecar.inject(await formRequest({ image: await makeImage().png().toBuffer() }));
    t.equal(response.statusCode, 503);
    t.match(response.json(), { code: 'IQA_TOOL_UNAVAILABLE', detail: /not available/ });
    t.equal(response.headers['retry-after'], '1');
  },
);

t.test('a sidecar that refuses connections is 503 too', async (t) => {
  const { app: refused } = await buildTestApp(t, { origin: () => 'http://127.0.0.1:9' });
  const response = await refused.inject(await formRequest({ image: await makeImage().png().toBuffer() }));
  t.match(response.json(), { status: 503, code: 'IQA_TOOL_UNAVAILABLE' });
});

t.test('/tools and /tools/{name}', async (t) => {
  const { tools } = (await get('/tools')).json<{ tools: ToolInfo[] }>();
  t.strictSame(
    tools.map((tool) => tool.name),
    baseRows.map((row) => row.name),
  );
  t.ok(
    tools.every((tool) => tool.available),
    JSON.stringify(tools.map((tool) => tool.reason)),
  );
  t.match((await get('/tools/ms%20ssim')).json(), {
    name: 'MS-SSIM',
    type: 'FR',
    direction: 'higher',
    calibration: { beta: Array, origin: String },
  });
  t.match((await get('/tools/nope')).json(), { status: 404, code: 'IQA_INPUT_NOT_FOUND', detail: /PSNR, SSIM/ });
});

t.test('/errors and /errors/{code}: the type of a problem is the URL of its description', async (t) => {
  const problem = (await get('/tools/nope')).json<Problem>();
  t.match((await get(problem.type)).json(), {
    code: problem.code,
    status: problem.status,
    title: problem.title,
    retryable: false,
  });
  t.equal((await get('/errors')).json<{ errors: object[] }>().errors.length, Object.keys(ERROR_KINDS).length);
  t.equal((await get('/errors/IQA_NOPE')).statusCode, 404);
});

t.test('/schemas and /schemas/{name}', async (t) => {
  const { schemas } = (await get('/schemas')).json<{ schemas: string[] }>();
  t.ok(schemas.includes('PlannerOutput') && schemas.includes('Assessment'));
  for (const name of schemas) {
    const response = await get(`/schemas/${name}`);
    t.match(response.headers['content-type'], /^application\/schema\+json/);
    t.match(response.json(), { $schema: 'https://json-schema.org/draft/2020-12/schema', title: name });
  }
  t.equal((await get('/schemas/Nope')).statusCode, 404);
});

// Scenario: replanning-logic / Mermaid diagram includes Summarizer
// Scenario: replanning-logic / Visualization shows iteration limit
t.test('/graph is Mermaid with the loop and its labels', async (t) => {
  const response = await get('/graph');
  t.match(response.headers['content-type'], /^text\/plain/);
  for (const line of [
    'graph TD',
    'START([START])',
    'planner[Planner]',
    'executor[Executor]',
    'summarizer[Summarizer]',
    'END([END])',
    'START --> planner',
    'planner --> executor',
    'executor --> summarizer',
    'summarizer -->|"need_replan=true & iter#lt;max"| planner',
    'summarizer -->|"need_replan=false or iter>=max"| END',
    'max_replan_iterations',
  ])
    t.ok(response.body.includes(line), line);
});

t.test('/openapi.json describes every route, and /docs shows it', async (t) => {
  const document = (await get('/openapi.json')).json<{
    openapi: string;
    paths: Record<
      string,
      Record<
        string,
        { requestBody?: { content: Record<string, { schema: { properties: Record<string, { format?: string }> } }> } }
      >
    >;
  }>();
  t.equal(document.openapi, '3.1.0');
  t.strictSame(Object.keys(document.paths).sort(), [
    '/assess',
    '/assess/{id}/resume',
    '/compare',
    '/errors',
    '/errors/{code}',
    '/graph',
    '/health',
    '/ready',
    '/schemas',
    '/schemas/{name}',
    '/tools',
    '/tools/{name}',
  ]);
  t.equal(
    document.paths['/assess']?.['post']?.requestBody?.content['multipart/form-data']?.schema.properties['image']
      ?.format,
    'binary',
  );
  t.equal((await get('/docs')).statusCode, 200);
});

t.test('unknown paths and methods are problems', async (t) => {
  const missing = await get('/nothing');
  t.equal(missing.statusCode, 404);
  t.match(missing.headers['content-type'], /^application\/problem\+json/);
  for (const [method, url, allow] of [
    ['GET', '/assess', 'POST'],
    ['DELETE', '/tools/SSIM', 'GET, HEAD'],
    ['POST', '/health', 'GET, HEAD'],
  ] as const) {
    const response = await app.inject({ method, url });
    t.equal(response.statusCode, 405, `${method} ${url}`);
    t.equal(response.headers['allow'], allow);
    t.match(response.json<Problem>(), { code: 'IQA_INPUT_METHOD', status: 405, request_id: String });
  }
  const malformed = await get('/tools/%E0%A4%A');
  t.equal(malformed.statusCode, 400);
  t.match(malformed.json(), { code: 'IQA_INPUT_MALFORMED' });
});
