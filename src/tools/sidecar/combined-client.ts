// Combines two sidecars into one client: tools of the optional pyiqa tier go to the second, everything else to the first.
import type { MeasureEvent, SidecarTools } from '../../../schemas/sidecar.ts';
import type { ToolRow } from '../../../schemas/tool.ts';
import { weakMemoize } from '../../lib/weak-memoize.ts';
import { getMessage } from '../../errors.ts';
import type { MeasureCall, SidecarClient } from './client.ts';

type FindTier = (tool: string) => ToolRow['tier'];

/** Returns the base client itself if there is no second one. */
export function combineClients(base: SidecarClient, pyiqa: SidecarClient | null, findTier: FindTier): SidecarClient {
  if (pyiqa === null) return base;
  // Memoized: callers memoize by the identity of this object.
  const joinLists = weakMemoize((baseList: SidecarTools) =>
    weakMemoize((pyiqaList: SidecarTools | typeof NO_TOOLS): SidecarTools => {
      const ofTier = (list: Pick<SidecarTools, 'tools'>, tier: ToolRow['tier']) =>
        list.tools.filter(({ name }) => findTier(name) === tier);
      return { ...baseList, tools: [...ofTier(baseList, 'base'), ...ofTier(pyiqaList, 'pyiqa')] };
    }),
  );
  return {
    async tools() {
      // While the optional tier is down, only its own tools are unavailable.
      const [baseList, pyiqaList] = await Promise.all([base.tools(), pyiqa.tools().catch(() => NO_TOOLS)]);
      return joinLists(baseList)(pyiqaList);
    },
    measure(call, signal) {
      const [baseCall, pyiqaCall] = splitCall(call, findTier);
      if (pyiqaCall === null) return base.measure(call, signal);
      const events = withToolErrors(pyiqa.measure(pyiqaCall, signal), pyiqaCall, signal);
      return baseCall === null ? events : interleave(base.measure(baseCall, signal), onlyToolEvents(events));
    },
    health: () => base.health(),
    async close() {
      await Promise.all([base.close(), pyiqa.close()]);
    },
  };
}

const NO_TOOLS: Pick<SidecarTools, 'tools'> = { tools: [] };

/** The call of each sidecar, or null. Measurements are always taken by the base sidecar. */
function splitCall(call: MeasureCall, findTier: FindTier): [base: MeasureCall | null, pyiqa: MeasureCall | null] {
  const { tools, measurements } = call.header;
  const baseTools = tools.filter(({ name }) => findTier(name) === 'base');
  const pyiqaTools = tools.filter(({ name }) => findTier(name) === 'pyiqa');
  const withTools = (part: typeof tools, regions: string[]): MeasureCall => ({
    ...call,
    header: { ...call.header, tools: part, measurements: regions },
  });
  const usesBase = baseTools.length > 0 || measurements.length > 0 || pyiqaTools.length === 0;
  return [
    usesBase ? withTools(baseTools, measurements) : null,
    pyiqaTools.length > 0 ? withTools(pyiqaTools, []) : null,
  ];
}

/** If the optional tier fails, emits an error event for each tool that has no result yet. */
async function* withToolErrors(
  events: AsyncGenerator<MeasureEvent>,
  call: MeasureCall,
  signal: AbortSignal,
): AsyncGenerator<MeasureEvent> {
  let open = call.header.tools.map(({ name, region }) => ({ tool: name, region }));
  try {
    for await (const event of events) {
      if (event.event === 'tool')
        open = open.filter(({ tool, region }) => tool !== event.tool || region !== event.region);
      yield event;
    }
  } catch (error) {
    if (signal.aborted) throw error;
    const message = `The pyiqa sidecar gave no answer: ${getMessage(error)}`;
    for (const { tool, region } of open) {
      yield {
        event: 'tool',
        tool,
        region,
        value: null,
        version: '',
        time_ms: 0,
        elapsed_ms: 0,
        map: null,
        grid: null,
        error: { code: 'TOOL_UNAVAILABLE', message },
      };
    }
    yield { event: 'end', time_ms: 0 };
  }
}

/** Drops the `image` and `end` events, which the base sidecar sends as well. */
async function* onlyToolEvents(events: AsyncGenerator<MeasureEvent>): AsyncGenerator<MeasureEvent> {
  for await (const event of events) if (event.event === 'tool') yield event;
}

/** Yields the events of both as they arrive, and `end` after all others. */
async function* interleave(
  first: AsyncGenerator<MeasureEvent>,
  second: AsyncGenerator<MeasureEvent>,
): AsyncGenerator<MeasureEvent> {
  const next = async (source: AsyncGenerator<MeasureEvent>) => ({ source, result: await source.next() });
  const waiting = new Map([first, second].map((source) => [source, next(source)]));
  let end: MeasureEvent | null = null;
  try {
    while (waiting.size > 0) {
      const { source, result } = await Promise.race(waiting.values());
      if (result.done) {
        waiting.delete(source);
        continue;
      }
      waiting.set(source, next(source));
      if (result.value.event === 'end') end = result.value;
      else yield result.value;
    }
    if (end) yield end;
  } finally {
    // A consumer that stops, or a failure, cancels both.
    for (const [source, pending] of waiting) {
      pending.catch(() => undefined);
      void source.return(undefined).catch(() => undefined);
    }
  }
}
