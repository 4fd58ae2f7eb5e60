// Generates the documentation pages from their sources; with --check it only reports stale pages and broken references.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { architecturePage } from './docs/pages/architecture.ts';
import { answerCard } from './docs/pages/answer-card.ts';
import { decisionsPage } from './docs/pages/decisions.ts';
import { decodingPage } from './docs/pages/decoding.ts';
import { errorsPage } from './docs/pages/errors.ts';
import { measurementsPage } from './docs/pages/measurements.ts';
import { DocsError, readText, root } from './docs/page.ts';
import { readmePage } from './docs/pages/readme.ts';
import { findBrokenReferences } from './docs/references.ts';
import { requirementsPage } from './docs/pages/requirements.ts';
import { settingsFile } from './docs/pages/settings.ts';
import { toolsPage } from './docs/pages/tools.ts';

const PAGES: Record<string, () => string> = {
  'docs/requirements.md': requirementsPage,
  'docs/tools.md': toolsPage,
  'docs/measurements.md': measurementsPage,
  'docs/errors.md': errorsPage,
  'docs/decoding.md': decodingPage,
  'docs/decisions/README.md': decisionsPage,
  'docs/architecture.md': architecturePage,
  'docs/answer-card.svg': answerCard,
  'README.md': readmePage,
  '.env.example': settingsFile,
};

const isCheck = process.argv.includes('--check');
const problems = [
  ...Object.entries(PAGES).flatMap(([file, generate]) => collectProblems(() => updatePage(file, generate()))),
  ...findBrokenReferences(),
];
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
}

/** Writes a stale page, or with --check reports it. */
function updatePage(file: string, text: string): void {
  if (existsSync(join(root, file)) && readText(file) === text) return;
  if (isCheck) throw new DocsError(`${file} is stale. Run "npm run docs".`);
  writeFileSync(join(root, file), text);
}

function collectProblems(work: () => void): string[] {
  try {
    work();
    return [];
  } catch (error) {
    if (error instanceof DocsError) return [error.message];
    throw error;
  }
}
