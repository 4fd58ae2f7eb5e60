// The tool registry: lookup, availability, ranking, licences.
import t from 'tap';
import { DISTORTION_CATEGORIES } from '../../../schemas/vocabulary.ts';
import { projectRoot } from '../../../src/config/config.ts';
import { createRegistry, describeTools, loadRegistry, rankTools, runnableTools } from '../../../src/tools/registry.ts';
import { registry } from '../../support/run.ts';

t.test('lookup by name and alias ignores case; a name is never shared', async (t) => {
  t.equal(registry.find(' ms ssim ')?.name, 'MS-SSIM');
  t.equal(registry.find('Structural Similarity')?.name, 'SSIM');
  t.equal(registry.find('magic'), undefined);
  const [first, second] = registry.rows;
  t.throws(() => createRegistry([first!, { ...second!, aliases: [first!.name] }]), /is a name of both/);
});

t.test('a tool is available if the sidecar offers it in the same version', async (t) => {
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
  t.equal(describeTools(registry, offered), describeTools(registry, offered), 'computed once per tool list');
  const refreshed = { ...offered, tools: offered.tools.slice(1) };
  t.strictSame(runnableTools(registry, refreshed), [], 'and again for the next list');
  t.strictSame(
    runnableTools(createRegistry([registry.find('SSIM')!]), offered).length,
    1,
    'separately for each registry',
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
        'none that refuses an image of 64 pixels',
      );
      t.ok(rankTools(registry.rows, category, false, 4).length > 0, 'if all refuse, they are listed nevertheless');
    }
  },
);

t.test('licences decide which tools exist', async (t) => {
  const names = (licences: 'permissive' | 'research' | 'any') => loadRegistry(projectRoot(), licences).names;
  t.notOk(names('permissive').has('PanelIQA-R'), 'fitted on ratings that are for research');
  t.ok(names('permissive').has('PanelIQA') && names('permissive').has('LiteIQA'));
  t.ok(names('research').has('PanelIQA-R') && !names('research').has('TOPIQ-FR'));
  t.ok(names('any').has('TOPIQ-FR'));
});
