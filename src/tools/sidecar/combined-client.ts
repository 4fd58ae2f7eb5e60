// Two sidecars seen as one: tools of the optional pyiqa tier go to its own address, everything else to the sidecar that is always there.
import type { MeasureEvent, SidecarTools } from '../../../schemas/sidecar.ts';
import type { ToolRow } from '../../../schemas/tool.ts';
import { weakMemoize } from '../../lib/weak-memoize.ts';
import { messageOf } from '../../errors.ts';
import type { MeasureCall, SidecarClient } from './client.ts';

/** `tierOf`: where a tool of the registry runs. Without a second client the first is all there is. */
export function combineClients(base: SidecarClient, pyiqa: SidecarClient | null, tierOf: (name: string) => ToolRow['tier']): SidecarClient {
  if (pyiqa === null) return base;
  // The same object while neither has answered anew: others know again by it what they worked out.
  const joined = weakMemoize((first: SidecarTools) => weakMemoize((second: SidecarTools | typeof AWAY): SidecarTools => {
    const further = second.tools.filter(({ name }) => tierOf(name) === 'pyiqa');
    return { ...first, tools: [...first.tools.filter(({ name }) => tierOf(name) === 'base'), ...further] };
  }));
  return {
    async tools() {
      // The second tier is optional in every respect: while it is away, its tools are unavailable and the others work.
      const [first, second] = await Promise.all([base.tools(), pyiqa.tools().catch(() => AWAY)]);
      return joined(first)(second);
    },
    measure(call, signal) {
      const [own, further] = splitCall(call, tierOf);
      if (further === null) return base.measure(call, signal);
      const answers = answerAll(pyiqa.measure(further, signal), further, signal);
      return own === null ? answers : interleave(base.measure(own, signal), withoutFrame(answers));
    },
    health: () => base.health(),
    async close() {
      await Promise.all([base.close(), pyiqa.close()]);
    },
  };
}

/** A second sidecar that does not answer. */
const AWAY: Pick<SidecarTools, 'tools'> = { tools: [] };

/** What each sidecar is asked; null where it is asked nothing. Measurements are always the first one's. */
function splitCall(call: MeasureCall, tierOf: (name: string) => ToolRow['tier']): [MeasureCall | null, MeasureCall | null] {
  const own = call.header.tools.filter(({ name }) => tierOf(name) === 'base');
  const further = call.header.tools.filter(({ name }) => tierOf(name) === 'pyiqa');
  const part = (tools: typeof own, measurements: string[]): MeasureCall => ({ ...call, header: { ...call.header, tools, measurements } });
  const ownPart = own.length > 0 || call.header.measurements.length > 0 || further.length === 0 ? part(own, call.header.measurements) : null;
  return [ownPart, further.length > 0 ? part(further, []) : null];
}

/** The optional tier's events; when it fails, each tool that it has not answered for gets an error of its own. */
async function* answerAll(events: AsyncGenerator<MeasureEvent>, call: MeasureCall, signal: AbortSignal): AsyncGenerator<MeasureEvent> {
  const open = call.header.tools.map(({ name, region }) => ({ tool: name, region }));
  try {
    for await (const event of events) {
      if (event.event === 'tool') open.splice(open.findIndex(({ tool, region }) => tool === event.tool && region === event.region), 1);
      yield event;
    }
  } catch (error) {
    if (signal.aborted) throw error;
    const message = `The pyiqa sidecar gave no answer: ${messageOf(error)}`;
    for (const { tool, region } of open) {
      yield { event: 'tool', tool, region, value: null, version: '', time_ms: 0, elapsed_ms: 0, map: null, error: { code: 'TOOL_UNAVAILABLE', message } };
    }
    yield { event: 'end', time_ms: 0 };
  }
}

/** Only the results: the first sidecar says what the picture is and when all is over. */
async function* withoutFrame(events: AsyncGenerator<MeasureEvent>): AsyncGenerator<MeasureEvent> {
  for await (const event of events) if (event.event === 'tool') yield event;
}

/** The events of both as they come; the last one's `end` comes last. */
async function* interleave(first: AsyncGenerator<MeasureEvent>, second: AsyncGenerator<MeasureEvent>): AsyncGenerator<MeasureEvent> {
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
    // Whoever stops listening, or fails, stops both.
    for (const [source, pending] of waiting) {
      pending.catch(() => undefined);
      void source.return(undefined).catch(() => undefined);
    }
  }
}
