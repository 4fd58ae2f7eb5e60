// The documentation generators: sections, references, and tables that follow their sources.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { architecturePage } from '../../../scripts/docs/pages/architecture.ts';
import { answerCard } from '../../../scripts/docs/pages/answer-card.ts';
import { decisionsPage } from '../../../scripts/docs/pages/decisions.ts';
import { readExampleAnswer } from '../../../scripts/docs/example-answer.ts';
import { fillSection, listFiles, root, wrapText } from '../../../scripts/docs/page.ts';
import { readmePage } from '../../../scripts/docs/pages/readme.ts';
import { checkReferences } from '../../../scripts/docs/references.ts';

t.test('a section is replaced between its markers, and both markers are required', async (t) => {
  const page = 'above\n<!-- generated:x -->\nold\n<!-- /generated:x -->\nbelow';
  const filled = 'above\n<!-- generated:x -->\nnew\n<!-- /generated:x -->\nbelow';
  t.equal(fillSection(page, 'x', 'new'), filled);
  t.equal(fillSection(filled, 'x', 'new'), filled);
  t.throws(() => fillSection(page, 'y', 'new'), /Expected the markers/);
  t.throws(() => fillSection('<!-- /generated:x --><!-- generated:x -->', 'x', 'new'), /Expected the markers/);
});

t.test('lines are wrapped at words', async (t) => {
  t.strictSame(wrapText('one two three', 8), ['one two', 'three']);
  t.strictSame(wrapText('unbreakable', 3), ['unbreakable']);
  t.strictSame(wrapText('below 2 %', 7), ['below', '2 %']);
});

t.test('missing paths, links and npm scripts are reported', async (t) => {
  const text = [
    '`src/app.ts` `src/pipeline/` `src/gone.ts` `docs/gone/` `sidecar/iqa_sidecar/metrics/my_metric.py` `application/json`',
    '[a](vlm.md) [b](vlm.md#cost) [c](gone.md) [d](https://example.org/gone.md)',
    '`npm run docs`, npm run gone: and `npm start`',
  ].join('\n');
  t.strictSame(checkReferences('docs/page.md', text), [
    'docs/page.md: src/gone.ts does not exist',
    'docs/page.md: docs/gone/ does not exist',
    'docs/page.md: gone.md does not exist',
    'docs/page.md: package.json has no script "gone"',
  ]);
});

t.test('the architecture page lists every source file', async (t) => {
  const page = architecturePage();
  for (const folder of ['routes', 'schemas', 'src', 'scripts'])
    for (const file of listFiles(folder, /\.ts$/)) t.ok(page.includes(`| \`${file}\` |`), file);
});

t.test('the index of decisions links to every record', async (t) => {
  const page = decisionsPage();
  const records = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md');
  t.ok(records.length >= 20);
  for (const name of records) t.ok(page.includes(`](${name})`), name);
});

t.test("README's figures are those of the newest results", async (t) => {
  const newest = readdirSync(join(root, 'benchmarks/results'))
    .filter((name) => name.startsWith('metrics-'))
    .sort()
    .at(-1)!;
  const { tools } = JSON.parse(readFileSync(join(root, 'benchmarks/results', newest), 'utf8')) as {
    tools: Record<string, { times_piq: number }>;
  };
  const page = readmePage();
  for (const name of ['SSIM', 'FSIM', 'VSI', 'MDSI'])
    t.match(page, new RegExp(`${name} \\d+ ms \\(${tools[name]!.times_piq.toFixed(1)}× piq\\)`));
});

t.test('the answer card is well-formed and shows the recorded answer', async (t) => {
  const svg = answerCard();
  const { quality_score: score, findings } = readExampleAnswer();
  t.match(svg, /^<svg [^]*<\/svg>\n$/);
  t.ok(svg.includes(`${score.value.toFixed(2)} of 5`));
  for (const { distortion, severity } of findings) t.ok(svg.includes(`${distortion}: ${severity}`));
  t.notOk(svg.includes('NaN') || svg.includes('undefined'));
});
