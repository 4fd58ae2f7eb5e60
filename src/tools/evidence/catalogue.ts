// What the sidecar offers to the images of one assessment, and why a tool cannot be run.
import type { SidecarTools } from '../../../schemas/sidecar.ts';
import type { ToolRow } from '../../../schemas/tool.ts';
import { describeTools, runnableTools, type ToolRegistry } from '../registry.ts';
import type { SidecarClient } from '../sidecar/client.ts';

export interface ToolCatalogue {
  list: () => Promise<SidecarTools>;
  /** Registry rows that can be run now. */
  runnable: () => Promise<readonly ToolRow[]>;
  /** Why a tool cannot be run on these images now, or null. */
  unavailableReasons: () => Promise<(tool: ToolRow) => string | null>;
  /** Null until the sidecar has answered. */
  sidecarVersion: () => string | null;
}

export function createCatalogue(client: SidecarClient, registry: ToolRegistry, hasReference: boolean): ToolCatalogue {
  let sidecarVersion: string | null = null;
  const list = async (): Promise<SidecarTools> => {
    const tools = await client.tools();
    sidecarVersion = tools.engine;
    return tools;
  };
  return {
    list,
    runnable: async () => runnableTools(registry, await list()),
    async unavailableReasons() {
      const infos = describeTools(registry, await list());
      return (tool) => {
        if (tool.type === 'FR' && !hasReference) return `Expected a reference image for ${tool.name} but received none`;
        const info = infos.find(({ name }) => name === tool.name);
        return info?.available ? null : `${tool.name} cannot be run: ${info?.reason ?? 'it is not in the registry'}`;
      };
    },
    sidecarVersion: () => sidecarVersion,
  };
}
