// The tool registry: the rows of configs/tools.yaml, and which of them the sidecar can run.
import type { SidecarTools } from '../../schemas/sidecar.ts';
import { ToolRegistryFile, type ToolInfo, type ToolRow } from '../../schemas/tool.ts';
import type { DistortionCategory } from '../../schemas/vocabulary.ts';
import { weakMemoize } from '../lib/weak-memoize.ts';
import { readYaml, type Licences } from '../config/config.ts';
import { ConfigError } from '../errors.ts';

export interface ToolRegistry {
  rows: readonly ToolRow[];
  names: ReadonlySet<string>;
  /** By name or alias, ignoring case. */
  find: (name: string) => ToolRow | undefined;
  /** How well a tool ranks strengths of a distortion; null if it was never measured. */
  strengthOf: (name: string, distortion: DistortionCategory) => number | null;
  /** Whether it is a learned fusion, which is chosen before any single tool. */
  isFusion: (name: string) => boolean;
}

/** Rows that the licence setting does not allow are left out, as if they did not exist. */
export function loadRegistry(root: string, licences: Licences = 'any'): ToolRegistry {
  const { tools } = readYaml(root, 'configs/tools.yaml', ToolRegistryFile);
  return createRegistry(tools.filter((row) => isAllowed(row, licences)));
}

const PERMISSIVE = new Set(['Apache-2.0', 'MIT', 'BSD-2-Clause', 'BSD-3-Clause']);

/** Parameters fitted on ratings that are for research and education. */
const RESEARCH_ONLY = 'LicenseRef-research-only';

/** Every part of an SPDX expression joined by AND must be allowed. */
function isAllowed({ code, parameters }: Pick<ToolRow, 'code' | 'parameters'>, licences: Licences): boolean {
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
        throw new ConfigError(`configs/tools.yaml: "${name}" is a name of both ${other.name} and ${row.name}`);
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

/** Each row with its availability; without a sidecar none is available. */
export function describeTools(registry: ToolRegistry, offered: SidecarTools | null): readonly ToolInfo[] {
  return offered ? describeOnce(registry)(offered).infos : describe(registry, null);
}

/** The rows that can be run now. */
export const runnableTools = (registry: ToolRegistry, offered: SidecarTools): readonly ToolRow[] =>
  describeOnce(registry)(offered).runnable;

/** Computed once per tool list of the sidecar instead of several times per request. */
const describeOnce = weakMemoize((registry: ToolRegistry) =>
  weakMemoize((offered: SidecarTools) => {
    const infos = describe(registry, offered);
    return { infos, runnable: registry.rows.filter((_, index) => infos[index]?.available) };
  }),
);

function describe(registry: ToolRegistry, offered: SidecarTools | null): ToolInfo[] {
  const byName = new Map(offered?.tools.map((tool) => [tool.name, tool]));
  return registry.rows.map((row) => {
    const tool = byName.get(row.name);
    const reason = findUnavailableReason(row, offered, tool);
    return { ...row, available: reason === null, reason };
  });
}

function findUnavailableReason(
  row: ToolRow,
  offered: SidecarTools | null,
  tool: SidecarTools['tools'][number] | undefined,
): string | null {
  if (!offered) return 'The sidecar does not respond';
  if (!tool)
    return row.tier === 'pyiqa'
      ? 'The pyiqa sidecar does not offer it or does not respond; PYIQA_SIDECAR_URL sets its address'
      : 'The sidecar does not have this tool';
  if (tool.version !== row.version)
    return `The registry describes version ${row.version} but the sidecar runs ${tool.version}`;
  return tool.available ? null : (tool.reason ?? 'The sidecar cannot run it');
}

/**
 * Tools that may be chosen for a distortion, best first: full-reference tools, learned fusions, then by measured strength, then by cost.
 * Tools that refuse an image with this shorter side are left out, unless all refuse it: then the best one reports why.
 */
export function rankTools(
  rows: readonly ToolRow[],
  category: DistortionCategory,
  hasReference: boolean,
  shorterSide = Infinity,
): ToolRow[] {
  const strength = (row: ToolRow): number => row.strengths[category] ?? 0;
  const selectable = rows.filter((row) => !row.on_request && (hasReference || row.type === 'NR'));
  const fitting = selectable.filter((row) => row.min_side <= shorterSide);
  return (fitting.length > 0 ? fitting : selectable).toSorted(
    (a, b) =>
      Number(b.type === 'FR') - Number(a.type === 'FR') ||
      b.precedence - a.precedence ||
      strength(b) - strength(a) ||
      costPerMegapixel(a) - costPerMegapixel(b),
  );
}

/** Milliseconds; a tool that was never timed counts as the slowest. Finite, so that two such tools compare as equal. */
export const costPerMegapixel = (row: ToolRow): number => row.cost_ms_per_megapixel ?? Number.MAX_VALUE;
