// The tool registry: the rows of configs/tools.yaml, and what the sidecar says it can run of them.
import type { SidecarTools } from '../../schemas/sidecar.ts';
import { ToolRegistryFile, type ToolInfo, type ToolRow } from '../../schemas/tool.ts';
import type { DistortionCategory } from '../../schemas/vocabulary.ts';
import { readYaml } from '../config.ts';
import { ConfigError } from '../errors.ts';

export interface ToolRegistry {
  rows: readonly ToolRow[];
  names: ReadonlySet<string>;
  /** By name or alias, whatever the case. */
  find: (name: string) => ToolRow | undefined;
}

export function loadRegistry(root: string): ToolRegistry {
  return createRegistry(readYaml(root, 'configs/tools.yaml', ToolRegistryFile).tools);
}

export function createRegistry(rows: readonly ToolRow[]): ToolRegistry {
  const byName = new Map<string, ToolRow>();
  for (const row of rows) {
    for (const name of [row.name, ...row.aliases]) {
      const key = name.toLowerCase();
      const other = byName.get(key);
      if (other && other !== row) throw new ConfigError(`configs/tools.yaml: "${name}" names both ${other.name} and ${row.name}`);
      byName.set(key, row);
    }
  }
  return {
    rows,
    names: new Set(rows.map((row) => row.name)),
    find: (name) => byName.get(name.trim().toLowerCase()),
  };
}

/** Each row with whether it can be run now; without a sidecar none can. */
export function describeTools(registry: ToolRegistry, offered: SidecarTools | null): ToolInfo[] {
  const byName = new Map(offered?.tools.map((tool) => [tool.name, tool]));
  return registry.rows.map((row) => {
    const tool = byName.get(row.name);
    const reason = unavailability(row, offered, tool);
    return { ...row, available: reason === null, reason };
  });
}

function unavailability(row: ToolRow, offered: SidecarTools | null, tool: SidecarTools['tools'][number] | undefined): string | null {
  if (!offered) return 'The sidecar does not answer';
  if (!tool) return 'The sidecar does not have this tool';
  if (tool.version !== row.version) return `The registry describes version ${row.version} but the sidecar runs ${tool.version}`;
  return tool.available ? null : tool.reason ?? 'The sidecar cannot run it';
}

/** Tools that may be chosen for a distortion, best first: by measured strength, then by cost. With a reference, those that use it come first. */
export function rankTools(rows: readonly ToolRow[], category: DistortionCategory, hasReference: boolean): ToolRow[] {
  const strength = (row: ToolRow): number => row.strengths[category] ?? 0;
  return rows
    .filter((row) => !row.on_request && (hasReference || row.type === 'NR'))
    .toSorted((a, b) => Number(b.type === 'FR') - Number(a.type === 'FR')
      || strength(b) - strength(a)
      || a.cost_ms_per_megapixel - b.cost_ms_per_megapixel);
}
