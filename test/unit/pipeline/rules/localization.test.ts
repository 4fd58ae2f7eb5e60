// From a local map to a place: nine numbers, a dozen names, and null where the map shows nothing.
import t from 'tap';
import type { Finding } from '../../../../schemas/responses/assessment.ts';
import { localizeFindings, classifyPlace } from '../../../../src/pipeline/rules/localization.ts';
import type { RunContext } from '../../../../src/pipeline/run-context.ts';
import { captureLog } from '../../../support/app.ts';
import { scriptEvidence } from '../../../support/run.ts';

const grid = (cells: string): number[] => Array.from(cells, (cell) => Number(cell) / 10);
const where = (cells: string) => classifyPlace(grid(cells), 'noise_sigma')?.where ?? null;

t.test('places by the shape of the grid', async (t) => {
  const shapes: [string, string | null][] = [
    ['500000000', 'upper left'],
    ['550550111', 'upper left'],
    ['111155155', 'lower right'],
    ['555111111', 'top'],
    ['111111555', 'bottom'],
    ['050000000', 'top'],
    ['511511511', 'left'],
    ['115115115', 'right'],
    ['111151111', 'centre'],
    ['111555111', 'centre'],
    ['555505555', 'edges'],
    ['500050005', 'several places'],
    ['555555555', 'all over'],
    ['454545454', 'all over'],
    ['000555555', 'bottom'],
    ['000000000', null],
  ];
  for (const [cells, expected] of shapes) t.equal(where(cells), expected, cells);
  t.equal(classifyPlace(null, 'x'), null);
  t.equal(classifyPlace([1, 2], 'x'), null);
});

const finding = (distortion: Finding['distortion'], severity: Finding['severity']): Finding => ({
  object_name: 'Global',
  distortion,
  severity,
  strength: null,
  confidence: 1,
  measurements: {},
  variants: {},
  place: null,
});
const regions = [{ name: 'Global', box: null }];
const { signal } = new AbortController();

t.test('the worst distortion that a map shows is localized; a map that fails is not an error', async (t) => {
  const asked: string[] = [];
  const evidence = {
    ...scriptEvidence({}),
    locate: async (sought: readonly { map: string }[]) =>
      sought.map(({ map }) => {
        asked.push(map);
        return grid('500000000');
      }),
  };
  const run = { evidence, log: captureLog().log } as unknown as RunContext;
  const findings = [finding('Brightness change', 'extreme'), finding('Noise', 'slight'), finding('Blurs', 'none')];
  t.strictSame(
    (await localizeFindings({ findings, regions, hasReference: false }, run, signal)).map(
      ({ place }) => place?.where ?? null,
    ),
    [null, 'upper left', null],
  );
  t.strictSame(
    (await localizeFindings({ findings, regions, hasReference: true }, run, signal)).map(
      ({ place }) => place?.where ?? null,
    ),
    ['upper left', null, null],
  );
  t.strictSame(asked, ['noise_sigma', 'SSIM']);
  t.strictSame(
    await localizeFindings({ findings: [finding('Blurs', 'none')], regions, hasReference: false }, run, signal),
    [finding('Blurs', 'none')],
    'without a visible distortion no map is requested',
  );
  const broken = { ...run, evidence: { ...evidence, locate: () => Promise.reject(new Error('down')) } };
  t.strictSame(await localizeFindings({ findings, regions, hasReference: false }, broken, signal), findings);
});
