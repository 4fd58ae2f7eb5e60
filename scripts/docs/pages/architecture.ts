// Generates the folder and file tables of docs/architecture.md from header comments and docstrings.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DocsError, fillSection, listFiles, readText, root, table } from '../page.ts';

/** Folders of TypeScript sources; Python packages describe themselves in `__init__.py`. */
const FOLDERS: Record<string, string> = {
  routes: 'HTTP routes: one file per resource, thin handlers',
  'routes/openapi': 'OpenAPI descriptions that are too long for the route files',
  schemas: 'Wire models as TypeBox schemas; no code that runs the service',
  'schemas/pipeline': 'Inputs, outputs and state of the three pipeline stages',
  'schemas/requests': 'Request bodies',
  'schemas/responses': 'Response bodies, problem details and progress events',
  'schemas/validation': 'Parsing and readable validation errors',
  src: 'The process, the app and the table of error codes',
  'src/assessments': 'One assessment: digest, dedupe, queue, run, response',
  'src/checkpoints': 'Stored stages and resuming, on SQLite or Postgres',
  'src/comparisons': 'POST /compare: assess every image, rank, decide what is too close to call',
  'src/config': 'Settings from the environment and configs/',
  'src/http': 'Error handler, validation, server-sent events, disconnects, OpenAPI document',
  'src/images': 'Untrusted files: identify, check, decode, normalise',
  'src/images/bmp': 'BMP reader, since sharp has none',
  'src/images/containers': 'Walks JPEG, PNG and WebP containers: finds truncation, strips metadata',
  'src/images/formats': 'Identifies file formats by their bytes',
  'src/lib': 'Small generic helpers',
  'src/pipeline': 'The LangGraph pipeline: wiring, state, stages',
  'src/pipeline/nodes': 'Planner, executor and summarizer nodes',
  'src/pipeline/rules': 'Rules that hold for every reasoner: plans, gaps, fusion, replanning',
  'src/reasoners': 'The `Reasoner` interface and the choice of one',
  'src/reasoners/embedded': 'The rule-based reasoner: no model, no network',
  'src/reasoners/embedded/answers': 'Answers from evidence',
  'src/reasoners/embedded/answers/choice': 'Multiple choice',
  'src/reasoners/embedded/answers/text': 'The sentences of an explanation',
  'src/reasoners/embedded/findings': 'Distortions graded from measurements and detectors, and ranked',
  'src/reasoners/embedded/query': 'Parses an English question into a plan',
  'src/reasoners/embedded/query/words': 'Tokens, spelling, word lists and phrases',
  'src/reasoners/vlm': 'The reasoner backed by a vision-language model',
  'src/reasoners/vlm/executor': 'Executor role: prompts, reply schema, assembly of the evidence',
  'src/reasoners/vlm/planner': 'Planner role: prompt and reply schema',
  'src/reasoners/vlm/summarizer': 'Summarizer role: prompts and reply schema',
  'src/tools': 'Tool registry and calibration',
  'src/tools/evidence': 'Runs tools once per request: cache, prefetch, calls in flight',
  'src/tools/sidecar': 'HTTP client and supervisor of the sidecar',
  'src/uploads': 'Request bodies: slots, multipart, base64, spooling to disk',
  'src/vlm': 'Model clients: back ends, sessions with retries, budget, prompts to requests',
  'src/vlm/providers': 'OpenAI, Anthropic, Google and OpenAI-compatible servers',
  'src/vlm/transport': 'Guarded fetch, circuit breaker, backoff, key redaction',
  scripts: 'Command-line scripts behind `npm run`',
  'scripts/checks': 'The checks behind `npm test` and the other test tiers',
  'scripts/setup': 'Parts of the set-up: lock, .env, Node releases',
  'scripts/docs': 'Documentation: shared helpers, reference check, the recorded example',
  'scripts/docs/pages': 'Generators, one per documentation page',
  benchmarks: 'Benchmarks; results are committed in `benchmarks/results`',
  'benchmarks/accuracy': 'The accuracy benchmark on TID2013 and LIVE Challenge',
  'benchmarks/statistics': 'Correlations, logistic fit, bootstrap',
};
const PYTHON_ROOTS = ['sidecar/iqa_sidecar', 'sidecar/iqa_pyiqa', 'sidecar/training'];
/** Each is one collapsible list of files. */
const GROUPS = ['routes', 'schemas', 'src', ...PYTHON_ROOTS, 'scripts', 'benchmarks'];

interface SourceFile {
  path: string;
  purpose: string;
}

export function architecturePage(): string {
  return fillSection(readText('docs/architecture.md'), 'layout', describeLayout());
}

function describeLayout(): string {
  const groups = GROUPS.map((group) => ({ group, folders: groupByFolder(listSources(group)) }));
  const missing = Object.keys(FOLDERS).filter((folder) => !existsSync(join(root, folder)));
  if (missing.length > 0)
    throw new DocsError(`scripts/docs/pages/architecture.ts describes ${missing.join(', ')}: no such folder`);
  const folderRows = groups.flatMap(({ folders }) =>
    [...folders].map(([folder, files]) => [`\`${folder}/\``, describeFolder(folder), String(files.length)]),
  );
  const details = groups.map(({ group, folders }) => {
    const rows = [...folders.values()].flat().map(({ path, purpose }) => [`\`${path}\``, purpose]);
    return [
      `<details><summary>Files in ${group}/ (${rows.length})</summary>`,
      '',
      table(['file', 'purpose'], rows),
      '',
      '</details>',
      '',
    ].join('\n');
  });
  return [table(['folder', 'purpose', 'files'], folderRows), '', ...details].join('\n').trimEnd();
}

function listSources(folder: string): SourceFile[] {
  const files = listFiles(folder, /(?<!__init__)\.(?:ts|mjs|py)$/);
  return files.map((path) => ({ path, purpose: readPurpose(path) }));
}

/** The first line of the header comment or docstring; empty for a file without one. */
function readPurpose(path: string): string {
  const match = path.endsWith('.py')
    ? /^"""(.+?)(?:"""|$)/m.exec(readText(path).split('\n', 1)[0] ?? '')
    : /^\/\/ (.+)/.exec(readText(path));
  return (match?.[1] ?? '').replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function groupByFolder(files: readonly SourceFile[]): Map<string, SourceFile[]> {
  const folders = new Map<string, SourceFile[]>();
  for (const file of files.toSorted(
    (a, b) => compareText(dirname(a.path), dirname(b.path)) || compareText(a.path, b.path),
  ))
    folders.set(dirname(file.path), [...(folders.get(dirname(file.path)) ?? []), file]);
  return folders;
}

function describeFolder(folder: string): string {
  const purpose = FOLDERS[folder] ?? (folder.startsWith('sidecar/') ? readPurpose(`${folder}/__init__.py`) : '');
  if (purpose === '') throw new DocsError(`Expected a line for ${folder} in scripts/docs/pages/architecture.ts`);
  return purpose;
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
