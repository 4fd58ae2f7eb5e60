// Generates docs/measurements.md from the catalogue that the sidecar itself reports.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { DocsError, generatedNote, root, table } from '../page.ts';

interface Catalogue {
  version: string;
  catalogue: { name: string; unit: string; minimum: number; maximum: number | null; description: string }[];
}

export function measurementsPage(): string {
  const { version, catalogue } = readCatalogue();
  const rows = catalogue.map(({ name, unit, minimum, maximum, description }) => [
    `\`${name}\``,
    unit,
    `${minimum} to ${maximum ?? '∞'}`,
    description,
  ]);
  return [
    generatedNote('sidecar/iqa_sidecar/measurements/'),
    '# Measurements',
    '',
    `Physical statistics of an image's pixels, version ${version}. With a reference, the reference is measured too and the difference counts.`,
    'A measurement is null where it is not defined for these pixels. `configs/severity.yaml` holds the thresholds from which a value is a distortion.',
    '',
    table(['name', 'unit', 'range', 'description'], rows),
    '',
  ].join('\n');
}

function readCatalogue(): Catalogue {
  const cwd = join(root, 'sidecar');
  const python = join(cwd, '.venv', 'bin', 'python');
  const { status, stdout, stderr } = spawnSync(python, ['-m', 'iqa_sidecar.measurements'], { cwd, encoding: 'utf8' });
  if (status !== 0) throw new DocsError(`Cannot read the sidecar's measurements; run "npm run setup" first. ${stderr}`);
  return JSON.parse(stdout) as Catalogue;
}
