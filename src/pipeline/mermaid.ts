// Draws the compiled graph as a Mermaid diagram; edge labels come from rules/replanning.ts.
import { EDGE_LABELS, type NextNode } from './rules/replanning.ts';

interface DrawableGraph {
  getGraphAsync: () => Promise<{
    nodes: Record<string, unknown>;
    edges: { source: string; target: string; conditional?: boolean }[];
  }>;
}

const TERMINALS: Record<string, string> = { __start__: 'START', __end__: 'END' };

export async function visualizeGraph(graph: DrawableGraph): Promise<string> {
  const { nodes, edges } = await graph.getGraphAsync();
  const declarations = Object.keys(nodes).map((name) => `    ${declareNode(name)}`);
  const arrows = edges
    .toSorted(compareByNodeOrder(Object.keys(nodes)))
    .map(
      ({ source, target, conditional }) =>
        `    ${mermaidId(source)} -->${conditional ? `|${escapeLabel(EDGE_LABELS[target as NextNode])}| ` : ' '}${mermaidId(target)}`,
    );
  return [
    'graph TD',
    '    %% iter is iteration_count, max is max_replan_iterations: a limit of N allows N - 1 replans, 0 and 1 allow none',
    ...declarations,
    ...arrows,
    '',
  ].join('\n');
}

function declareNode(name: string): string {
  const terminal = TERMINALS[name];
  return terminal ? `${terminal}([${terminal}])` : `${name}[${name.charAt(0).toUpperCase()}${name.slice(1)}]`;
}

const mermaidId = (name: string): string => TERMINALS[name] ?? name;

// A browser reads a bare < as the start of a tag; Mermaid has its own entity for it.
const escapeLabel = (label: string): string => `"${label.replaceAll('<', '#lt;')}"`;

const compareByNodeOrder =
  (order: string[]) => (a: { source: string; target: string }, b: { source: string; target: string }) =>
    order.indexOf(a.source) - order.indexOf(b.source) || order.indexOf(a.target) - order.indexOf(b.target);
