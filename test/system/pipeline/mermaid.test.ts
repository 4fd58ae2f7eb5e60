// The pipeline's Mermaid diagram: its source, and how a browser renders it.
import { join } from 'node:path';
import { END, START, StateGraph } from '@langchain/langgraph/web';
import t from 'tap';
import { projectRoot } from '../../../src/config/config.ts';
import { buildGraph } from '../../../src/pipeline/graph.ts';
import { createPipelineState } from '../../../src/pipeline/state.ts';
import { EDGE_LABELS } from '../../../src/pipeline/rules/replanning.ts';
import { visualizeGraph } from '../../../src/pipeline/mermaid.ts';
import { captureLog } from '../../support/app.ts';
import { browserIsMissing, openPage } from '../../support/system/browser.ts';
import { pipelineConfig } from '../../support/run.ts';

const { log } = captureLog();

// Scenario: replanning-logic / Phase 3 compatibility
t.test('a graph without summarizer is drawn without a loop', async (t) => {
  const node = () => ({});
  const graph = new StateGraph(createPipelineState(log))
    .addNode('planner', node)
    .addNode('executor', node)
    .addEdge(START, 'planner')
    .addEdge('planner', 'executor')
    .addEdge('executor', END)
    .compile();
  const source = await visualizeGraph(graph);
  t.match(source, /executor --> END/);
  t.notMatch(source, /summarizer|-->\|/);
});

// Scenario: replanning-logic / Mermaid diagram includes Summarizer
// Scenario: replanning-logic / Visualization shows iteration limit
t.test('a browser renders every node and both labels', { skip: browserIsMissing }, async (t) => {
  const page = await openPage(t);
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
