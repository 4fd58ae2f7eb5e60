// Finds paths, links and npm scripts named in the documentation that do not exist.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listFiles, readText, root } from './page.ts';

const PATH = /`((?:[\w.-]+\/)+[\w.-]*|[\w-]+\.(?:md|ts|mjs|yml))`/g;
const LINK = /\]\(([^)#\s]+)(?:#[^)]*)?\)/g;
const NPM_SCRIPT = /\bnpm run ([\w:-]*\w)/g;
/** Names of files that the reader is to create. */
const PLACEHOLDER = /(^|[/_-])my[_-]/;
/** Only paths below these folders, and loose file names, are claims about this repository. */
const OWN_PATH = /^(?:\.ci|benchmarks|configs|docs|gateway|routes|schemas|scripts|sidecar|src|test)\/|^[\w-]+\.\w+$/;

export function findBrokenReferences(): string[] {
  const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'benchmarks/README.md', ...listFiles('docs', /\.md$/)];
  return pages.flatMap((page) => checkReferences(page, readText(page)));
}

export function checkReferences(page: string, text: string): string[] {
  const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
  const missingPaths = findAll(text, PATH).filter((path) => OWN_PATH.test(path) && !exists(path));
  const missingLinks = findAll(text, LINK).filter(
    (target) => !/^[a-z]+:/.test(target) && !exists(join(dirname(page), target)),
  );
  const missingScripts = findAll(text, NPM_SCRIPT).filter((name) => !(name in scripts));
  return [
    ...[...missingPaths, ...missingLinks].map((path) => `${page}: ${path} does not exist`),
    ...missingScripts.map((name) => `${page}: package.json has no script "${name}"`),
  ];
}

const findAll = (text: string, pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, found]) => found ?? '')),
];

const exists = (path: string): boolean => PLACEHOLDER.test(path) || existsSync(join(root, path));
