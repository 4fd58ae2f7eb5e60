// The tool registry: the rows of configs/tools.yaml, and what the sidecar says it can run of them.
import type { SidecarTools } from '../../schemas/sidecar.ts';
import { ToolRegistryFile, type ToolInfo, type ToolRow } from '../../schemas/tool.ts';
import type { DistortionCategory } from '../../schemas/vocabulary.ts';
import { weakMemoize } from '../lib/weak-memoize.ts';
import { readYaml, type Licences } from '../config/config.ts';
import { ConfigError } from '../errors.ts';

export interface ToolRegistry {
  rows: readonly ToolRow[];
  names: ReadonlySet<string>;
  /** By name or alias, whatever the case. */
  find: (name: string) => ToolRow | undefined;
  /** How well a tool ranks strengths of a distortion; null where that was never measured. */
  strengthOf: (name: string, distortion: DistortionCategory) => number | null;
  /** Whether it is a learned fusion, chosen before any single tool. */
  isFusion: (name: string) => boolean;
}

/** Rows that the licences do not allow are left out, as if they did not exist. */
export function loadRegistry(root: string, licences: Licences = 'any'): ToolRegistry {
  const { tools } = readYaml(root, 'configs/tools.yaml', ToolRegistryFile);
  return createRegistry(tools.filter((row) => isAllowed(row, licences)));
}

const PERMISSIVE = new Set(['Apache-2.0', 'MIT', 'BSD-2-Clause', 'BSD-3-Clause']);

/** Figures fitted on ratings that are for research and education. */
const RESEARCH_ONLY = 'LicenseRef-research-only';

/** SPDX expressions joined by AND: every part counts. */
export function isAllowed({ code, parameters }: Pick<ToolRow, 'code' | 'parameters'>, licences: Licences): boolean {
  const named = [code.licence, ...(parameters ? [parameters.licence] : [])].flatMap((licence) =>
    licence.split(' AND '),
  );
  return named.every(
    (licence) =>
      licences === 'any' || PERMISSIVE.has(licence) || (licences === 'research' && licence === RESEARCH_ONLY),
  );
}

export function createRegistry(rows: readonly ToolRow[]): ToolRegistry {
  const byName = new Map<string, ToolRow>();
  for (const row of rows) {
    for (const name of [row.name, ...row.aliases]) {
      const key = name.toLowerCase();
      const other = byName.get(key);
      if (other && other !== row)
        throw new ConfigError(`configs/tools.yaml: "${name}" names both ${other.name} and ${row.name}`);
      byName.set(key, row);
    }
  }
  return {
    rows,
    names: new Set(rows.map((row) => row.name)),
    find: (name) => byName.get(name.trim().toLowerCase()),
    strengthOf: (name, distortion) => byName.get(name.toLowerCase())?.strengths[distortion] ?? null,
    isFusion: (name) => (byName.get(name.toLowerCase())?.precedence ?? 0) > 0,
  };
}

/** Each row with whether it can be run now; without a sidecar none can. */
export function describeTools(registry: ToolRegistry, offered: SidecarTools | null): readonly ToolInfo[] {
  return offered ? described(registry)(offered).infos : describe(registry, null);
}

/** The rows that can be run now. */
export const runnableTools = (registry: ToolRegistry, offered: SidecarTools): readonly ToolRow[] =>
  described(registry)(offered).runnable;

/** Once for each answer of the sidecar, which is asked now and then, instead of several times a request. */
const described = weakMemoize((registry: ToolRegistry) =>
  weakMemoize((offered: SidecarTools) => {
    const infos = describe(registry, offered);
    return { infos, runnable: registry.rows.filter((_, index) => infos[index]?.available) };
  }),
);

function describe(registry: ToolRegistry, offered: SidecarTools | null): ToolInfo[] {
  const byName = new Map(offered?.tools.map((tool) => [tool.name, tool]));
  return registry.rows.map((row) => {
    const tool = byName.get(row.name);
    const reason = unavailability(row, offered, tool);
    return { ...row, available: reason === null, reason };
  });
}

function unavailability(
  row: ToolRow,
  offered: SidecarTools | null,
  tool: SidecarTools['tools'][number] | undefined,
): string | null {
  if (!offered) return 'The sidecar does not answer';
  if (!tool)
    return row.tier === 'pyiqa'
      ? 'The pyiqa sidecar does not offer it or does not answer; PYIQA_SIDECAR_URL says where it runs'
      : 'The sidecar does not have this tool';
  if (tool.version !== row.version)
    return `The registry describes version ${row.version} but the sidecar runs ${tool.version}`;
  return tool.available ? null : (tool.reason ?? 'The sidecar cannot run it');
}

/**
 * Tools that may be chosen for a distortion, best first: learned fusions, then by measured strength, then by cost. With a reference, those that
 * use it come first.
 * Tools that refuse a picture of this shorter side are left out, unless all do: then the best of them says so itself.
 */
export function rankTools(
  rows: readonly ToolRow[],
  category: DistortionCategory,
  hasReference: boolean,
  shorterSide = Infinity,
): ToolRow[] {
  const strength = (row: ToolRow): number => row.strengths[category] ?? 0;
  const choosable = rows.filter((row) => !row.on_request && (hasReference || row.type === 'NR'));
  const fitting = choosable.filter((row) => row.min_side <= shorterSide);
  return (fitting.length > 0 ? fitting : choosable).toSorted(
    (a, b) =>
      Number(b.type === 'FR') - Number(a.type === 'FR') ||
      b.precedence - a.precedence ||
      strength(b) - strength(a) ||
      costOf(a) - costOf(b),
  );
}

const costOf = (row: ToolRow): number => row.cost_ms_per_megapixel ?? Number.MAX_VALUE;
