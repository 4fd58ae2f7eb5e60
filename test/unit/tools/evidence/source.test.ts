// The evidence source against a fake sidecar: grids of local maps, the cache, and the prefetch.
import t from 'tap';
import type { MeasureEvent } from '../../../../schemas/sidecar.ts';
import type { PreparedImage } from '../../../../src/images/prepare-image.ts';
import { createResultCache } from '../../../../src/tools/evidence/cache.ts';
import { createEvidenceSource, WHOLE_IMAGE } from '../../../../src/tools/evidence/source.ts';
import { registry } from '../../../support/run.ts';
import { createFakeClient, offer, toolEvent, type FakeClient } from '../../../support/sidecar/sidecar-events.ts';

const GRID = [0, 0, 0, 0, 0.5, 0, 0, 0, 1];
const END: MeasureEvent = { event: 'end', time_ms: 2 };
const { signal } = new AbortController();

const image = (width = 640, height = 480): PreparedImage => ({
  info: { sha256: 'a', width, height, format: 'png', bytes: 1, notes: [] },
  field: 'image',
  path: 'x',
  bytes: 1,
  sha256: `${width} × ${height}`,
  jpegQuality: null,
  verify: () => Promise.resolve(),
});

const createSource = (client: FakeClient, cache = createResultCache(100), prepared = image()) =>
  createEvidenceSource({
    client,
    registry,
    cache,
    toolTimeoutMs: () => 1_000,
    requestId: 'test',
    image: prepared,
    reference: null,
    onTool: () => undefined,
  });

t.test('grids are requested instead of maps, and cached', async (t) => {
  const client = createFakeClient([offer('noise_sigma'), offer('blockiness')], ({ header }) => [
    ...header.tools.map(({ name, region }) => toolEvent(name, { region, grid: name === 'noise_sigma' ? GRID : null })),
    END,
  ]);
  const cache = createResultCache(100);
  const requests = [
    { map: 'noise_sigma', region: WHOLE_IMAGE },
    { map: 'blockiness', region: { name: 'car', box: [0, 0, 100, 100] } },
  ];
  const source = createSource(client, cache);
  t.strictSame(await source.locate(requests, signal), [GRID, null]);
  t.strictSame(client.calls[0]?.header.tools, [
    { name: 'noise_sigma', region: 'Global', map: false, grid: true },
    { name: 'blockiness', region: 'car', map: false, grid: true },
  ]);
  t.strictSame(await createSource(client, cache).locate(requests, signal), [GRID, null]);
  t.equal(client.calls.length, 1, 'the second assessment finds them in the cache');
});

t.test('a map that cannot be made is not requested', async (t) => {
  const client = createFakeClient(
    [
      offer('no map', { has_map: false }),
      offer('down', { available: false }),
      offer('large', { min_side: 64 }),
      offer('MDSI', { needs_reference: true }),
    ],
    () => [END],
  );
  const region = { name: 'car', box: [0, 0, 32, 100] };
  const maps = ['no map', 'down', 'large', 'MDSI', 'unknown'];
  const source = createSource(client);
  t.strictSame(
    await source.locate(
      maps.map((map) => ({ map, region })),
      signal,
    ),
    maps.map(() => null),
  );
  t.equal(client.calls.length, 0);
});

t.test('maps as images are requested as maps, over the whole image', async (t) => {
  const map = { media_type: 'image/png', width: 1, height: 1, base64: 'AA==' };
  const client = createFakeClient([offer('noise_sigma')], () => [toolEvent('noise_sigma', { map }), END]);
  t.strictSame(await createSource(client).maps(['noise_sigma', 'magic'], signal), [
    { name: 'noise_sigma', map, error: null },
    { name: 'magic', map: null, error: 'The sidecar has no map of magic' },
  ]);
  t.strictSame(client.calls[0]?.header.tools, [{ name: 'noise_sigma', region: 'Global', map: true }]);
});

t.test('a prefetch measures the whole image once; a dropped one is cancelled and not started again', async (t) => {
  const niqe = registry.find('NIQE')!;
  const offers = [offer('NIQE', { version: niqe.version })];
  const client = createFakeClient(offers, () => [
    {
      event: 'measurements',
      region: 'Global',
      values: { noise_sigma: 2 },
      reference_values: null,
      version: '1',
      time_ms: 1,
      elapsed_ms: 1,
      error: null,
    },
    toolEvent('NIQE', { version: niqe.version, value: 4 }),
    END,
  ]);
  const source = createSource(client);
  await source.prefetch.start(signal, 1_000);
  const measured = await source.measure([WHOLE_IMAGE], signal);
  t.strictSame(measured.get('Global'), { values: { noise_sigma: 2 }, reference: null });
  t.match(await source.run([{ tool: niqe, region: WHOLE_IMAGE }], signal), [{ value: 4, error: null }]);
  t.equal(client.calls.length, 1);
  source.prefetch.drop();
  t.equal(client.signals[0]?.aborted, true);
  await source.prefetch.start(signal, 1_000);
  t.equal(client.calls.length, 1);
  t.equal(source.statistics().sidecarVersion, '1.2.3');
});
