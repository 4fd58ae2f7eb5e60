// Generates docs/decisions/README.md: an index of the decision records by their titles.
import { generatedNote, listFiles, readText, table } from '../page.ts';

export function decisionsPage(): string {
  const rows = listFiles('docs/decisions', /^\d{4}-\d\d-\d\d-.+\.md$/).map((file) => {
    const name = file.slice('docs/decisions/'.length);
    const title = /^# (.+)$/m.exec(readText(file))?.[1] ?? name;
    return [name.slice(0, 10), `[${title}](${name})`];
  });
  return [
    generatedNote("the records' titles"),
    '# Decision records',
    '',
    'Why things are as they are: each record is short, dated, and gives the measurements behind the decision and what was tried and left out.',
    '',
    table(['date', 'decision'], rows),
    '',
  ].join('\n');
}
