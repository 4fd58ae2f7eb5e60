// Generates docs/tools.md from the tool registry.
import { DISTORTION_CATEGORIES } from '../../../schemas/vocabulary.ts';
import { loadRegistry } from '../../../src/tools/registry.ts';
import { generatedNote, root, table } from '../page.ts';

export function toolsPage(): string {
  const { rows } = loadRegistry(root);
  const overview = rows.map((row) => [
    row.name,
    row.title,
    row.type,
    `${row.direction} is better`,
    row.range.join(' to '),
    `${row.min_side} px`,
    String(row.cost_ms_per_megapixel ?? '?'),
    row.version,
  ]);
  const strengths = rows.map((row) => [
    row.name,
    ...DISTORTION_CATEGORIES.map((category) => (row.strengths[category] ?? 0).toFixed(2)),
  ]);
  const origins = rows.map((row) =>
    [
      `### ${row.name}`,
      '',
      `- Code: ${row.code.source} (${row.code.licence})`,
      ...(row.parameters ? [`- Parameters: ${row.parameters.source} (${row.parameters.licence})`] : []),
      `- Calibration ${row.calibration.version}: β = ${row.calibration.beta.join(', ')}; ${row.calibration.origin}`,
      `- Strengths: ${row.strengths_origin}`,
      ...(row.aliases.length > 0 ? [`- Also called: ${row.aliases.join(', ')}`] : []),
      '',
    ].join('\n'),
  );
  return [
    generatedNote('configs/tools.yaml'),
    '# Tools',
    '',
    table(['name', '', 'type', 'direction', 'range', 'smallest side', 'ms per megapixel', 'version'], overview),
    '',
    'FR tools compare with a reference, NR tools need none. Times are CPU time on one core.',
    '',
    '## Measured strength by distortion',
    '',
    table(['name', ...DISTORTION_CATEGORIES], strengths),
    '',
    '## Origins',
    '',
    ...origins,
  ].join('\n');
}
