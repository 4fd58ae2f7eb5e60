// Generates docs/requirements.md: every scenario of the requirements with the tests that are tagged with it.
import { parse as parseYaml } from 'yaml';
import { DocsError, generatedNote, listFiles, readText, table } from '../page.ts';

interface TaggedTest {
  file: string;
  test: string;
}
/** An entry with an issue is planned for later and needs no test yet. */
type Scenario = string | { title: string; issue: string };

export function requirementsPage(): string {
  const documents = parseYaml(readText('docs/requirements.yaml')) as Record<string, Scenario[]>;
  const tagged = findTaggedTests();
  const known = new Set(
    Object.entries(documents).flatMap(([document, list]) => list.map((entry) => `${document} / ${getTitle(entry)}`)),
  );
  const problems = [...tagged.keys()]
    .filter((key) => !known.has(key))
    .map((key) => `A test is tagged with an unknown scenario: ${key}`);
  const sections = Object.entries(documents).map(([document, list]) => {
    const rows = list.map((entry) => {
      const key = `${document} / ${getTitle(entry)}`;
      const tests = tagged.get(key) ?? [];
      const later = typeof entry === 'object' ? `later: issue ${entry.issue}` : '';
      if (tests.length === 0 && later === '') problems.push(`No test is tagged with ${key}`);
      return [getTitle(entry), tests.map(({ file, test }) => `\`${file}\`: ${test}`).join('<br>') || later];
    });
    return [`## ${document}`, '', table(['scenario', 'tests'], rows), ''].join('\n');
  });
  if (problems.length > 0) throw new DocsError(problems.join('\n'));
  return `${generatedNote('docs/requirements.yaml and the tests')}# Requirements and their tests\n\n${sections.join('\n')}`;
}

function getTitle(entry: Scenario): string {
  return typeof entry === 'string' ? entry : entry.title;
}

const TAG_OR_TEST =
  /^[ \t]*(?:\/\/|#) Scenario: (?<tag>.+?)\s*$|^[ \t]*t\.test\(\s*(?<quote>['"`])(?<title>.+?)\k<quote>,|^[ \t]*(?:async )?def (?<name>test_\w+)/gm;

/** Scenario comments, each with the title of the test that follows it. */
function findTaggedTests(): Map<string, TaggedTest[]> {
  const found = new Map<string, TaggedTest[]>();
  const files = [...listFiles('test', /\.test\.ts$/), ...listFiles('sidecar/tests', /(^|\/)test_\w+\.py$/)];
  for (const file of files) {
    let pending: string[] = [];
    for (const { groups = {} } of readText(file).matchAll(TAG_OR_TEST)) {
      const { tag, title, name = '' } = groups;
      if (tag !== undefined) {
        pending.push(tag);
        continue;
      }
      const test = (title ?? name).replaceAll('|', '\\|').replaceAll("\\'", "'");
      for (const key of pending) found.set(key, [...(found.get(key) ?? []), { file, test }]);
      pending = [];
    }
    if (pending.length > 0)
      throw new DocsError(`${file}: a scenario comment without a test below it: ${pending.join(', ')}`);
  }
  return found;
}
