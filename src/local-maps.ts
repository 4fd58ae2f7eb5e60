// The local maps that a request asked for: fetched beside the run, and what could not be made said so, never a reason to fail.
import type { Diagnostics } from '../schemas/assessment.ts';
import type { ToolRow } from '../schemas/tool.ts';
import { GLOBAL } from '../schemas/vocabulary.ts';
import { IqaError, publicMessage } from './errors.ts';
import type { RunContext } from './pipeline/run-context.ts';
import type { ToolRegistry } from './tools/registry.ts';

export interface CollectedMaps {
  maps: Diagnostics['maps'];
  /** Why a map is missing, a sentence each. */
  notes: string[];
}

/** The tools by name or alias, each once; a name that nobody has is the caller's to mend, before the run begins. */
export function findMapTools(names: readonly string[], registry: ToolRegistry): ToolRow[] {
  return [...new Set(names.map((name) => {
    const row = registry.find(name);
    if (!row) throw new IqaError('IQA_INPUT_INVALID', `Expected names of tools for maps (${[...registry.names].join(', ')}) but received "${name.slice(0, 60)}"`);
    return row;
  }))];
}

export async function collectMaps(tools: readonly ToolRow[], { evidence, log, signal }: RunContext): Promise<CollectedMaps> {
  if (tools.length === 0) return { maps: [], notes: [] };
  try {
    const outcomes = await evidence.maps(tools, signal);
    return {
      maps: outcomes.flatMap(({ tool, map }) => (map ? [{ tool_name: tool.name, object_name: GLOBAL, ...map }] : [])),
      notes: outcomes.flatMap(({ tool, error }) => (error === null ? [] : [`No map of ${tool.name}: ${error}`])),
    };
  } catch (error) {
    if (signal.aborted) throw error;
    log.warn({ err: error }, 'No maps');
    return { maps: [], notes: [`No maps: ${publicMessage(error)}`] };
  }
}
