// The drawn pipeline: its source, and the picture that a browser makes of it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import t from 'tap';
import { projectRoot } from '../../src/config.ts';
import { buildEvidenceGraph, buildGraph } from '../../src/pipeline/graph.ts';
import { EDGE_LABELS } from '../../src/pipeline/replanning.ts';
import { visualizeGraph } from '../../src/pipeline/visualize.ts';
import { captureLog } from '../support/app.ts';
import { pipelineConfig } from '../support/run.ts';

const BROWSER = '/usr/bin/chromium';
const { log } = captureLog();

// Scenario: replanning-logic / Phase 3 compatibility
t.test('the variant without summarizer has no loop', async (t) => {
  const source = await visualizeGraph(buildEvidenceGraph(pipelineConfig, log));
  t.match(source, /executor --> END/);
  t.notMatch(source, /summarizer|-->\|/);
});

// Scenario: replanning-logic / Mermaid diagram includes Summarizer
// Scenario: replanning-logic / Visualization shows iteration limit
t.test('a browser renders every node and both labels', { skip: existsSync(BROWSER) ? false : `needs ${BROWSER} (apt install chromium)` }, async (t) => {
  const browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] });
  t.teardown(() => browser.close());
  const page = await browser.newPage();
  await page.addScriptTag({ path: join(projectRoot(), 'node_modules/mermaid/dist/mermaid.min.js') });
  const source = await visualizeGraph(buildGraph(pipelineConfig, log));
  const text = await page.evaluate(async (diagram) => {
    const { mermaid, document } = globalThis as unknown as {
      mermaid: { render: (id: string, source: string) => Promise<{ svg: string }> };
      document: { body: { innerHTML: string; textContent: string } };
    };
    const { svg } = await mermaid.render('graph', diagram);
    document.body.innerHTML = svg;
    return document.body.textContent;
  }, source);
  for (const shown of ['START', 'Planner', 'Executor', 'Summarizer', 'END', ...Object.values(EDGE_LABELS)]) {
    t.ok(text.replaceAll(/\s+/g, ' ').includes(shown), shown);
  }
});
