// Two sidecars as one client: each tool runs where it is offered, the optional sidecar may be down, and a licence can hide its tools.
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import type { Assessment } from '../../../../schemas/responses/assessment.ts';
import type { MeasureEvent, SidecarTools } from '../../../../schemas/sidecar.ts';
import type { ToolInfo } from '../../../../schemas/tool.ts';
import type { Config } from '../../../../src/config/config.ts';
import { combineClients } from '../../../../src/tools/sidecar/combined-client.ts';
import type { MeasureCall, SidecarClient, SidecarOrigin } from '../../../../src/tools/sidecar/client.ts';
import { superviseSidecar } from '../../../../src/tools/sidecar/supervisor.ts';
import { buildTestApp, formRequest, sidecarCommand } from '../../../support/app.ts';
import { makeImage } from '../../../support/images/images.ts';

const anyLicence = (config: Config): Config => ({ ...config, pipeline: { ...config.pipeline, licences: 'any' } });

/** A real sidecar that offers three names of the tier. */
async function startSecondSidecar(t: Test): Promise<SidecarOrigin> {
  const { command, cwd, args } = sidecarCommand();
  const supervisor = superviseSidecar(
    { command: '/usr/bin/env', cwd, args: ['IQA_SIDECAR_EXTRA_TOOLS=tests.tier_tools', command, ...args] },
    pino({ level: 'silent' }),
  );
  t.teardown(() => supervisor.stop());
  await supervisor.started;
  return supervisor.origin;
}

t.test('tools of both sidecars are listed, and each runs where it is offered', async (t) => {
  const { app } = await buildTestApp(t, { adjust: anyLicence, pyiqa: await startSecondSidecar(t) });
  const { tools } = (await app.inject('/tools')).json<{ tools: ToolInfo[] }>();
  const findReason = (name: string) => tools.find((tool) => tool.name === name)?.reason;
  t.equal(findReason('MUSIQ'), null);
  t.equal(findReason('PSNR'), null);
  t.equal(findReason('TOPIQ-NR'), 'its weights are not mounted');
  t.match(findReason('MANIQA'), /pyiqa sidecar does not offer it/);

  const image = await makeImage().png().toBuffer();
  const assess = async (query: string) => (await app.inject(await formRequest({ image, query }))).json<Assessment>();
  const named = await assess('What is the MUSIQ score of this image?');
  t.match(named.executor_evidence?.tool_logs, [
    { tool_name: 'MUSIQ', raw_score: Number, normalized_score: Number, fallback: false, error: null },
  ]);
  const missing = await assess('What is the TOPIQ-NR score of this image?');
  t.match(missing.executor_evidence?.tool_logs[0], {
    tool_name: 'TOPIQ-NR',
    raw_score: null,
    error: /weights are not mounted/,
  });
  t.match(missing.executor_evidence?.tool_logs[1], { fallback: true, error: null });
  const unasked = await assess('How is the overall quality of this image?');
  t.ok(
    unasked.executor_evidence?.tool_logs.every(({ tool_name }) => tool_name !== 'MUSIQ'),
    'never chosen unasked',
  );
});

t.test('while the second sidecar is down, its tools are unavailable and the others work', async (t) => {
  const { app } = await buildTestApp(t, { adjust: anyLicence, pyiqa: () => 'http://127.0.0.1:9' });
  t.match((await app.inject('/tools/MUSIQ')).json(), { available: false, reason: /pyiqa sidecar .*PYIQA_SIDECAR_URL/ });
  const response = await app.inject(
    await formRequest({ image: await makeImage().png().toBuffer(), query: 'What is the MUSIQ score?' }),
  );
  t.match(response.json<Assessment>().executor_evidence?.tool_logs.at(-1), { fallback: true, error: null });
});

t.test('with permissive licences the second tier is hidden', async (t) => {
  const { app } = await buildTestApp(t, { pyiqa: await startSecondSidecar(t) });
  const { tools } = (await app.inject('/tools')).json<{ tools: ToolInfo[] }>();
  t.ok(tools.every(({ tier }) => tier === 'base'));
  t.equal((await app.inject('/tools/MUSIQ')).statusCode, 404);
  const response = await app.inject(
    await formRequest({ image: await makeImage().png().toBuffer(), query: 'What is the MUSIQ score of this image?' }),
  );
  t.equal(response.json<Assessment>().plan?.required_tool, null, 'the planner does not know the name');
});

/** A client that replays events with a pause before each; an error ends it. */
function replay(events: readonly (MeasureEvent | Error)[], pauseMs: number): SidecarClient & { calls: MeasureCall[] } {
  const calls: MeasureCall[] = [];
  return {
    calls,
    async *measure(call) {
      calls.push(call);
      for (const event of events) {
        await delay(pauseMs);
        if (event instanceof Error) throw event;
        yield event;
      }
    },
    tools: () => Promise.resolve({ tools: [] } as unknown as SidecarTools),
    health: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

const result = (tool: string): MeasureEvent => ({
  event: 'tool',
  tool,
  region: 'Global',
  value: 1,
  version: '1',
  time_ms: 1,
  elapsed_ms: 1,
  map: null,
  grid: null,
  error: null,
});
const image: MeasureEvent = {
  event: 'image',
  contract: 1,
  width: 1,
  height: 1,
  channels: 3,
  queue_ms: 0,
  decode_ms: 0,
};
const end: MeasureEvent = { event: 'end', time_ms: 2 };
const callFor = (tools: string[], measurements: string[] = []): MeasureCall => ({
  header: {
    request_id: null,
    regions: {},
    measurements,
    tools: tools.map((name) => ({ name, region: 'Global', map: false })),
    jpeg_quality: null,
    tool_timeout_ms: 1000,
  },
  image: { path: 'x', bytes: 1, field: 'image' },
  reference: null,
});
const tierOf = (name: string) => (name.startsWith('deep') ? ('pyiqa' as const) : ('base' as const));
const collect = async (events: AsyncGenerator<MeasureEvent>): Promise<string[]> => {
  const seen: string[] = [];
  for await (const event of events)
    seen.push(event.event === 'tool' ? `${event.tool}${event.error ? ` ${event.error.code}` : ''}` : event.event);
  return seen;
};

t.test(
  'a call for both sidecars is split, events arrive as they are ready, and one end event comes last',
  async (t) => {
    const base = replay([image, result('a'), result('b'), end], 1);
    const pyiqa = replay([image, result('deep'), end], 20);
    const signal = new AbortController().signal;
    t.strictSame(
      await collect(combineClients(base, pyiqa, tierOf).measure(callFor(['a', 'deep', 'b'], ['Global']), signal)),
      ['image', 'a', 'b', 'deep', 'end'],
    );
    t.strictSame(
      base.calls.map(({ header }) => [header.tools.map(({ name }) => name), header.measurements]),
      [[['a', 'b'], ['Global']]],
    );
    t.strictSame(
      pyiqa.calls.map(({ header }) => [header.tools.map(({ name }) => name), header.measurements]),
      [[['deep'], []]],
    );
  },
);

t.test('a call for one sidecar goes only to it', async (t) => {
  const base = replay([image, result('a'), end], 1);
  const pyiqa = replay([image, result('deep'), end], 1);
  const both = combineClients(base, pyiqa, tierOf);
  const signal = new AbortController().signal;
  t.strictSame(await collect(both.measure(callFor(['a']), signal)), ['image', 'a', 'end']);
  t.strictSame(await collect(both.measure(callFor(['deep']), signal)), ['image', 'deep', 'end']);
  t.equal(base.calls.length + pyiqa.calls.length, 2);
});

t.test(
  'when the second sidecar fails, each of its open tools gets an error; a failure of the first fails the call',
  async (t) => {
    const signal = new AbortController().signal;
    const broken = replay([image, result('deep'), new Error('cut off')], 5);
    const fine = replay([image, result('a'), end], 1);
    t.strictSame(
      await collect(combineClients(fine, broken, tierOf).measure(callFor(['a', 'deep', 'deeper']), signal)),
      ['image', 'a', 'deep', 'deeper TOOL_UNAVAILABLE', 'end'],
    );
    await t.rejects(
      collect(
        combineClients(replay([image, new Error('gone')], 1), replay([image, result('deep'), end], 1), tierOf).measure(
          callFor(['a', 'deep']),
          signal,
        ),
      ),
      /gone/,
    );
  },
);

t.test('an event of a tool that was not requested settles none of the open tools', async (t) => {
  const broken = replay([image, result('deep other'), new Error('cut off')], 1);
  const both = combineClients(replay([], 1), broken, tierOf);
  t.strictSame(await collect(both.measure(callFor(['deep', 'deeper']), new AbortController().signal)), [
    'image',
    'deep other',
    'deep TOOL_UNAVAILABLE',
    'deeper TOOL_UNAVAILABLE',
    'end',
  ]);
});
