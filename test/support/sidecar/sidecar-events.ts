// Events of the sidecar, and a client that replays them.
import type { MeasureEvent, SidecarTools, ToolEvent } from '../../../schemas/sidecar.ts';
import type { MeasureCall, SidecarClient } from '../../../src/tools/sidecar/client.ts';

export const toolEvent = (tool: string, changes: Partial<ToolEvent> = {}): ToolEvent => ({
  event: 'tool',
  tool,
  region: 'Global',
  value: 1,
  version: '1',
  time_ms: 1,
  elapsed_ms: 1,
  map: null,
  grid: null,
  error: null,
  ...changes,
});

export const offer = (name: string, changes: Partial<SidecarTools['tools'][number]> = {}) => ({
  name,
  version: '1',
  needs_reference: false,
  min_side: 1,
  has_map: true,
  available: true,
  reason: null,
  ...changes,
});

export interface FakeClient extends SidecarClient {
  calls: MeasureCall[];
  signals: AbortSignal[];
}

/** Answers every call with `reply(call)`. */
export function createFakeClient(
  tools: SidecarTools['tools'],
  reply: (call: MeasureCall) => readonly MeasureEvent[],
): FakeClient {
  const calls: MeasureCall[] = [];
  const signals: AbortSignal[] = [];
  const list: SidecarTools = {
    contract: 1,
    engine: '1.2.3',
    tools,
    measurements: { version: '1', catalogue: [] },
    limits: { max_bytes: 1, max_pixels: 1, max_regions: 1, max_tools: 1 },
  };
  return {
    calls,
    signals,
    async *measure(call, signal) {
      calls.push(call);
      signals.push(signal);
      yield* reply(call);
      await Promise.resolve();
    },
    tools: () => Promise.resolve(list),
    health: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
