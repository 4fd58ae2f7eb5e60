// Makes the generated pages of docs/ from their one source each; with --check it only says whether they are current.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { DISTORTION_CATEGORIES } from '../schemas/vocabulary.ts';
import { projectRoot, SETTINGS } from '../src/config/config.ts';
import { ERROR_KINDS } from '../src/errors.ts';
import { loadRegistry } from '../src/tools/registry.ts';
import { decodingPage } from './decoding-page.ts';

const root = projectRoot();
const pages: Record<string, () => string> = {
  'docs/requirements.md': requirementsPage,
  'docs/tools.md': toolsPage,
  'docs/measurements.md': measurementsPage,
  'docs/errors.md': errorsPage,
  'docs/decoding.md': () => `${generated('src/images/policy.ts and src/images/formats')}${decodingPage()}`,
  '.env.example': settingsFile,
};

const stale = Object.entries(pages).filter(([file, make]) => {
  const path = join(root, file);
  const text = make();
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return false;
  if (!process.argv.includes('--check')) writeFileSync(path, text);
  return true;
});
if (process.argv.includes('--check') && stale.length > 0) {
  console.error(`Stale: ${stale.map(([file]) => file).join(', ')}. "npm run docs" makes them anew.`);
  process.exit(1);
}

function generated(from: string): string {
  return `<!-- Made by "npm run docs" from ${from}; edit that. -->\n`;
}

interface Shown {
  file: string;
  test: string;
}
type Listed = string | { title: string; issue: string };

function requirementsPage(): string {
  const documents = parseYaml(readFileSync(join(root, 'docs/requirements.yaml'), 'utf8')) as Record<string, Listed[]>;
  const shown = findTaggedTests();
  const known = new Set(
    Object.entries(documents).flatMap(([document, list]) => list.map((entry) => `${document} / ${titleOf(entry)}`)),
  );
  const problems = [...shown.keys()]
    .filter((key) => !known.has(key))
    .map((key) => `a test is tagged with an unknown scenario: ${key}`);
  const sections = Object.entries(documents).map(([document, list]) => {
    const rows = list.map((entry) => {
      const tests = shown.get(`${document} / ${titleOf(entry)}`) ?? [];
      const later = typeof entry === 'object' ? `later: issue ${entry.issue}` : null;
      if (tests.length === 0 && later === null) problems.push(`no test shows ${document} / ${titleOf(entry)}`);
      return `| ${titleOf(entry)} | ${tests.length > 0 ? tests.map(({ file, test }) => `\`${file}\`: ${test}`).join('<br>') : (later ?? '')} |`;
    });
    return [`## ${document}`, '', '| scenario | shown by |', '| --- | --- |', ...rows, ''].join('\n');
  });
  if (problems.length > 0) {
    console.error(problems.join('\n'));
    process.exit(1);
  }
  return `${generated('docs/requirements.yaml and the tests')}# Requirements and the tests that show them\n\n${sections.join('\n')}`;
}

function titleOf(entry: Listed): string {
  return typeof entry === 'string' ? entry : entry.title;
}

/** Scenario comments, each with the title of the test that follows it. */
function findTaggedTests(): Map<string, Shown[]> {
  const shown = new Map<string, Shown[]>();
  const files = [...filesIn('test', /\.test\.ts$/), ...filesIn('sidecar/tests', /(^|\/)test_\w+\.py$/)];
  for (const file of files) {
    let waiting: string[] = [];
    for (const line of readFileSync(join(root, file), 'utf8').split('\n')) {
      const tag = /^\s*(?:\/\/|#) Scenario: (.+?)\s*$/.exec(line)?.[1];
      const test = /^\s*t\.test\(\s*(['"`])(.+?)\1,/.exec(line)?.[2] ?? /^\s*(?:async )?def (test_\w+)/.exec(line)?.[1];
      if (tag) waiting.push(tag);
      else if (test) {
        for (const key of waiting)
          shown.set(key, [
            ...(shown.get(key) ?? []),
            { file, test: test.replaceAll('|', '\\|').replaceAll("\\'", "'") },
          ]);
        waiting = [];
      }
    }
    if (waiting.length > 0) {
      console.error(`${file}: a scenario comment without a test below it: ${waiting.join(', ')}`);
      process.exit(1);
    }
  }
  return shown;
}

function filesIn(folder: string, pattern: RegExp): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => `${folder}/${name}`);
}

function toolsPage(): string {
  const { rows } = loadRegistry(root);
  const overview = rows.map(
    (row) =>
      `| ${row.name} | ${row.title} | ${row.type} | ${row.direction} is better | ${row.range.join(' to ')} | ${row.min_side} px | ${row.cost_ms_per_megapixel ?? '?'} | ${row.version} |`,
  );
  const strengths = rows.map(
    (row) =>
      `| ${row.name} | ${DISTORTION_CATEGORIES.map((category) => (row.strengths[category] ?? 0).toFixed(2)).join(' | ')} |`,
  );
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
    generated('configs/tools.yaml'),
    '# Tools',
    '',
    '| name | | needs | direction | range | smallest side | ms per megapixel | version |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...overview,
    '',
    'FR compares with a reference, NR needs none. Times are CPU time on one core.',
    '',
    '## Measured strength by distortion',
    '',
    `| name | ${DISTORTION_CATEGORIES.join(' | ')} |`,
    `| --- |${' --- |'.repeat(DISTORTION_CATEGORIES.length)}`,
    ...strengths,
    '',
    '## Origins',
    '',
    ...origins,
  ].join('\n');
}

interface MeasurementRow {
  name: string;
  unit: string;
  minimum: number;
  maximum: number | null;
  description: string;
}

/** The sidecar's own catalogue, so that page and code cannot disagree. */
function measurementsPage(): string {
  const sidecar = join(root, 'sidecar');
  const { status, stdout, stderr } = spawnSync(
    join(sidecar, '.venv', 'bin', 'python'),
    ['-m', 'iqa_sidecar.measurements'],
    { cwd: sidecar, encoding: 'utf8' },
  );
  if (status !== 0)
    throw new Error(`The sidecar's catalogue of measurements cannot be read ("npm run setup" first): ${stderr}`);
  const { version, catalogue } = JSON.parse(stdout) as { version: string; catalogue: MeasurementRow[] };
  const rows = catalogue.map(
    ({ name, unit, minimum, maximum, description }) =>
      `| \`${name}\` | ${unit} | ${minimum} to ${maximum ?? '∞'} | ${description} |`,
  );
  return [
    generated('sidecar/iqa_sidecar/measurements/'),
    '# Measurements',
    '',
    `Physical statistics of a picture's pixels, version ${version}. With a reference all are taken of it too, and the difference of the two is what`,
    'counts. A measurement is null where these pixels do not define it. `configs/severity.yaml` says from where on a value is a distortion.',
    '',
    '| name | unit | range | what it is |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function errorsPage(): string {
  const rows = Object.entries(ERROR_KINDS).map(
    ([code, { status, title, retryable }]) =>
      `| <a id="${code.toLowerCase()}"></a>\`${code}\` | ${status} | ${title} | ${retryable ? 'yes' : 'no'} |`,
  );
  return [
    generated('src/errors.ts'),
    '# Error codes',
    '',
    'Every error, on every route, is `application/problem+json` (RFC 9457) with `type`, `title`, `status`, `detail`, `code`, `request_id` and,',
    'where fields did not fit, `errors` with the path, what was expected and what was received. `detail` says what to do.',
    '',
    '| code | status | meaning | the same request may succeed later |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function settingsFile(): string {
  const lines = Object.entries(SETTINGS).flatMap(([name, { default: value, description }]) => [
    `# ${description}`,
    `#${name}=${value}`,
    '',
  ]);
  return [
    `# Settings of the service, with their defaults. Made by "npm run docs" from src/config/config.ts.`,
    `# Start with them: set -a; . ./.env; set +a; npm start`,
    '',
    ...lines,
  ].join('\n');
}
