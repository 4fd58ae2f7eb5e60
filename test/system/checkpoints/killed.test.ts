// A process is killed during an assessment; another one finishes it under the same id without repeating work.
import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import { formRequest, type FormFields } from '../../support/app.ts';
import { essence, STORES } from '../../support/system/checkpoint-stores.ts';
import { makeImage } from '../../support/images/images.ts';
import { startService, until, type Service } from '../../support/system/service.ts';
import { watchSidecar } from '../../support/sidecar/sidecar-spy.ts';

const REAL = ['node', 'dist/src/server.js'];
const HALTING = ['node', '--import=ts-blank-space/register', 'test/support/providers/halting-server.ts'];

// Every field of a request: each must survive the process.
const request: FormFields = {
  image: await makeImage({ width: 256, height: 192 }).jpeg({ quality: 20 }).toBuffer(),
  reference: await makeImage({ width: 320, height: 240 }).png().toBuffer(),
  query: 'Which flaw of the ball is worst?',
  choices: '["Compression","Noise","Blur"]',
  regions: '[{"name":"ball","box":[20,20,128,128]}]',
  max_replan_iterations: '3',
  prior_context: '{"turn":1}',
  align: 'resize',
  backend: 'auto',
};

async function assess(address: string, id: string): Promise<Response> {
  const { payload, headers } = await formRequest(request);
  return fetch(`${address}/assess`, {
    method: 'POST',
    body: new Uint8Array(payload as Buffer),
    headers: { ...(headers as Record<string, string>), 'x-assessment-id': id },
  });
}

const resume = (address: string, id: string) => fetch(`${address}/assess/${id}/resume`, { method: 'POST' });
/** The log line may follow shortly after the response. */
const finished = ({ logs }: Service) =>
  until(() => logs.some((line) => line['msg'] === 'Request finished' && String(line['path']).endsWith('/resume')));
const listStages = ({ logs }: Service) =>
  logs.filter((line) => line['msg'] === 'Stage finished').map((line) => line['stage']);

async function killDuring(
  t: Test,
  service: Service,
  id: string,
  moment: () => boolean | Promise<boolean>,
): Promise<void> {
  const asking = assess(service.address, id);
  asking.catch(() => undefined);
  await until(moment);
  service.child.kill('SIGKILL');
  await service.exited;
  await t.rejects(asking, 'the client gets no response');
}

for (const kind of STORES) {
  t.test(`killed after its executor, ${kind.name}`, { skip: kind.skip }, async (t) => {
    const store = await kind.open(t);
    const sidecar = await watchSidecar(t);
    const environment = { ...store.environment, SIDECAR_URL: sidecar.origin };
    const id = randomUUID();
    const doomed = await startService(t, { command: HALTING, environment: { ...environment, HALT_AT: 'summarizer' } });
    await killDuring(t, doomed, id, () => doomed.logs.some((line) => line['halted'] === 'summarizer'));
    t.strictSame(listStages(doomed), ['planner', 'executor']);
    const left = await store.counts();
    t.match(left, { runs: 1, images: 1 });
    t.ok(left.stages > 0);

    const next = await startService(t, { command: REAL, environment });
    t.match(await store.counts(), left, 'a start removes nothing that can be resumed');
    const measured = sidecar.measured();
    const response = await resume(next.address, id);
    t.equal(response.status, 200);
    const resumed = (await response.json()) as Assessment;
    t.equal(resumed.id, id);
    await finished(next);
    t.strictSame(listStages(next), ['summarizer'], 'finished stages are not run again');
    t.equal(sidecar.measured(), measured, 'no tool is run again');

    const uninterrupted = (await (await assess(next.address, randomUUID())).json()) as Assessment;
    t.strictSame(essence(resumed), essence(uninterrupted), 'the same answer as without the interruption');
    t.ok((resumed.metadata.timings_ms['executor'] ?? 0) > 0, 'what the first process spent is counted');

    t.strictSame(await (await resume(next.address, id)).json(), resumed, 'a finished one is answered from the store');
    const again = await assess(next.address, id);
    t.match(await again.json(), { status: 409, code: 'IQA_INPUT_ID_TAKEN' });
    t.match(await (await resume(next.address, randomUUID())).json(), { status: 404, code: 'IQA_INPUT_NOT_FOUND' });
    t.match(await (await resume(next.address, 'nonsense')).json(), { status: 422, code: 'IQA_INPUT_INVALID' });
    next.child.kill('SIGTERM');
    t.equal(await next.exited, 0);
    t.match(await store.counts(), { runs: 2, stages: 0, images: 0 }, 'of finished runs only the answers stay');
    t.notMatch(
      JSON.stringify([resumed, next.logs]),
      store.environment['IQA_CHECKPOINTS_DIR'] ?? '?',
      'no path of ours is told',
    );
  });

  t.test(`killed after its planner, ${kind.name}`, { skip: kind.skip }, async (t) => {
    const store = await kind.open(t);
    const sidecar = await watchSidecar(t);
    const environment = { ...store.environment, SIDECAR_URL: sidecar.origin };
    const id = randomUUID();
    const doomed = await startService(t, { command: HALTING, environment: { ...environment, HALT_AT: 'executor' } });
    await killDuring(t, doomed, id, () => doomed.logs.some((line) => line['halted'] === 'executor'));
    const next = await startService(t, { command: REAL, environment });
    const resumed = (await (await resume(next.address, id)).json()) as Assessment;
    await finished(next);
    t.strictSame(listStages(next), ['executor', 'summarizer']);
    t.match(resumed, { id, plan: { query_type: 'IQA' }, reference: { width: 320, notes: [/resized from 320 × 240/] } });
    const uninterrupted = (await (await assess(next.address, randomUUID())).json()) as Assessment;
    t.strictSame(resumed.summarizer_result, uninterrupted.summarizer_result);
    t.strictSame(resumed.quality_score, uninterrupted.quality_score);
  });
}
