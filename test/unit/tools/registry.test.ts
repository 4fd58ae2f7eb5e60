// The registry and what hangs on its rows: lookup, availability, ranking, calibration, cache keys.
import t from 'tap';
import { DISTORTION_CATEGORIES } from '../../../schemas/vocabulary.ts';
import { projectRoot } from '../../../src/config/config.ts';
import { cacheKey, createResultCache } from '../../../src/tools/evidence/cache.ts';
import { calibrate } from '../../../src/tools/calibration.ts';
import { createRegistry, describeTools, loadRegistry, rankTools, runnableTools } from '../../../src/tools/registry.ts';
import { registry } from '../../support/run.ts';

t.test('lookup by name and alias, whatever the case; a name is never shared', async (t) => {
  t.equal(registry.find(' ms ssim ')?.name, 'MS-SSIM');
  t.equal(registry.find('Structural Similarity')?.name, 'SSIM');
  t.equal(registry.find('magic'), undefined);
  const [first, second] = registry.rows;
  t.throws(() => createRegistry([first!, { ...second!, aliases: [first!.name] }]), /names both/);
});

t.test('availability follows the sidecar, version by version', async (t) => {
  const offered = {
    contract: 1 as const,
    engine: '1',
    measurements: { version: '1', catalogue: [] },
    limits: { max_bytes: 1, max_pixels: 1, max_regions: 1, max_tools: 1 },
    tools: [
      {
        name: 'SSIM',
        version: registry.find('SSIM')!.version,
        needs_reference: true,
        min_side: 11,
        has_map: true,
        available: true,
        reason: null,
      },
      {
        name: 'NIQE',
        version: '0.0.1',
        needs_reference: false,
        min_side: 1,
        has_map: false,
        available: true,
        reason: null,
      },
      {
        name: 'GMSD',
        version: registry.find('GMSD')!.version,
        needs_reference: true,
        min_side: 1,
        has_map: false,
        available: false,
        reason: 'no weights',
      },
    ],
  };
  const reasons = Object.fromEntries(
    describeTools(registry, offered).map(({ name, available, reason }) => [name, available ? 'ok' : reason]),
  );
  t.match(reasons, {
    SSIM: 'ok',
    NIQE: /version 1.0.1 but the sidecar runs 0.0.1/,
    GMSD: 'no weights',
    PSNR: 'The sidecar does not have this tool',
  });
  t.strictSame(
    runnableTools(registry, offered).map(({ name }) => name),
    ['SSIM'],
  );
  t.equal(
    describeTools(registry, offered),
    describeTools(registry, offered),
    'worked out once for one answer of the sidecar',
  );
  const renewed = { ...offered, tools: offered.tools.slice(1) };
  t.strictSame(runnableTools(registry, renewed), [], 'and anew for the next one');
  t.strictSame(
    runnableTools(createRegistry([registry.find('SSIM')!]), offered).length,
    1,
    'for each registry by itself',
  );
});

t.test(
  'ranking: full-reference first where there is a reference, then learned fusions, then by strength, then by cost',
  async (t) => {
    for (const category of DISTORTION_CATEGORIES) {
      t.ok(
        rankTools(registry.rows, category, false).every((row) => row.type === 'NR'),
        'never a full-reference tool without a reference',
      );
      const ranked = rankTools(registry.rows, category, true);
      const precedences = ranked.filter((row) => row.type === 'FR').map((row) => row.precedence);
      t.strictSame(
        precedences,
        precedences.toSorted((a, b) => b - a),
      );
      t.equal(ranked[0]?.name, 'PanelIQA-R');
      const strengths = ranked
        .filter((row) => row.type === 'FR' && row.precedence === 0)
        .map((row) => row.strengths[category] ?? 0);
      t.strictSame(
        strengths,
        strengths.toSorted((a, b) => b - a),
      );
      t.equal(ranked[0]?.type, 'FR');
      t.ok(
        rankTools(registry.rows, category, false, 64).every((row) => row.min_side <= 64),
        'none that refuses a picture of 64 pixels',
      );
      t.ok(rankTools(registry.rows, category, false, 4).length > 0, 'where all refuse, the best says so itself');
    }
  },
);

t.test("every calibration is monotone over the tool's range and reaches excellent and bad", async (t) => {
  for (const row of registry.rows) {
    const [low = 0, high = 0] = row.range;
    const scores = Array.from(
      { length: 2_001 },
      (_, step) => calibrate(low + (step / 2_000) * (high - low), row.calibration).score,
    );
    const ordered = row.direction === 'higher' ? scores : scores.toReversed();
    t.ok(
      ordered.every((score, index) => index === 0 || score >= (ordered[index - 1] ?? 0) - 1e-9),
      `${row.name} is monotone`,
    );
    t.ok((ordered.at(-1) ?? 0) > 4.5, `${row.name} reaches excellent`);
    t.ok((ordered[0] ?? 5) < 1.5, `${row.name} reaches bad`);
    t.ok(scores.every((score) => score >= 1 && score <= 5));
  }
});

t.test('what leaves 1 to 5 is clipped and flagged', async (t) => {
  const line = { beta: [0, 0, 0, 1, 0] };
  t.strictSame(calibrate(3, line), { score: 3, clipped: false });
  t.strictSame(calibrate(7, line), { score: 5, clipped: true });
  t.strictSame(calibrate(-1, line), { score: 1, clipped: true });
});

t.test('the cache forgets the least used, counts, and keys by all that a value depends on', async (t) => {
  const cache = createResultCache(2);
  cache.set('a', { value: 1 });
  cache.set('b', { value: 2 });
  t.strictSame(cache.get('a'), { value: 1 });
  cache.set('c', { value: 3 });
  t.equal(cache.get('b'), undefined);
  t.strictSame(cache.statistics(), { entries: 2, hits: 1, misses: 1 });
  const parts = { image: 'i', reference: null, jpegQuality: null, box: null, what: 'SSIM', version: '1' };
  const keys = [
    parts,
    { ...parts, image: 'j' },
    { ...parts, reference: 'r' },
    { ...parts, jpegQuality: 5 },
    { ...parts, box: [1, 2, 3, 4] },
    { ...parts, what: 'GMSD' },
    { ...parts, version: '2' },
  ].map(cacheKey);
  t.equal(new Set(keys).size, keys.length);
});

t.test('licences decide which tools exist', async (t) => {
  const names = (licences: 'permissive' | 'research' | 'any') => loadRegistry(projectRoot(), licences).names;
  t.notOk(names('permissive').has('PanelIQA-R'), 'fitted on ratings that are for research');
  t.ok(names('permissive').has('PanelIQA') && names('permissive').has('LiteIQA'));
  t.ok(names('research').has('PanelIQA-R') && !names('research').has('TOPIQ-FR'));
  t.ok(names('any').has('TOPIQ-FR'));
});
