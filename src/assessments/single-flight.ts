// Runs identical concurrent work once: later callers get the same events and the same result.
export interface SharedRun<Event, Result> {
  result: Promise<Result>;
  /** All events from the start of the run to its end. */
  events: () => AsyncGenerator<Event, void>;
  /** Whether this call started the run. */
  isNew: boolean;
}

export type Work<Event, Result> = (report: (event: Event) => void, signal: AbortSignal) => Promise<Result>;

interface SingleFlight<Event, Result> {
  /** Starts the run for this key or joins the current one. A run is aborted when the signals of all callers are. */
  joinOrStart: (key: string, signal: AbortSignal, work: Work<Event, Result>) => SharedRun<Event, Result>;
}

interface EventLog<Event> {
  events: Event[];
  ended: boolean;
  /** Called at every new event and at the end. */
  listeners: Set<() => void>;
}

interface CurrentRun<Event, Result> {
  result: Promise<Result>;
  log: EventLog<Event>;
  subscribers: number;
  controller: AbortController;
}

export function createSingleFlight<Event, Result>(): SingleFlight<Event, Result> {
  const current = new Map<string, CurrentRun<Event, Result>>();

  function remove(key: string, run: CurrentRun<Event, Result>): void {
    if (current.get(key) === run) current.delete(key);
  }

  function start(key: string, work: Work<Event, Result>): CurrentRun<Event, Result> {
    const controller = new AbortController();
    const log: EventLog<Event> = { events: [], ended: false, listeners: new Set() };
    const notify = () => {
      for (const listener of log.listeners) listener();
    };
    const report = (event: Event) => {
      log.events.push(event);
      notify();
    };
    const result = work(report, controller.signal).finally(() => {
      log.ended = true;
      remove(key, run);
      notify();
    });
    // All callers may have gone: then the rejection is not unhandled.
    result.catch(() => undefined);
    const run = { result, log, subscribers: 0, controller };
    current.set(key, run);
    return run;
  }

  return {
    joinOrStart(key, signal, work) {
      signal.throwIfAborted();
      const existing = current.get(key);
      const run = existing ?? start(key, work);
      run.subscribers += 1;
      const unsubscribe = () => {
        run.subscribers -= 1;
        if (run.subscribers > 0) return;
        // A run that is being aborted must not be joined.
        remove(key, run);
        run.controller.abort(signal.reason);
      };
      signal.addEventListener('abort', unsubscribe, { once: true });
      return { result: run.result, events: () => replayEvents(run.log), isNew: existing === undefined };
    },
  };
}

async function* replayEvents<Event>(log: EventLog<Event>): AsyncGenerator<Event, void> {
  let next = 0;
  let wake: () => void = () => undefined;
  const listener = () => {
    wake();
  };
  log.listeners.add(listener);
  try {
    for (;;) {
      while (next < log.events.length) yield log.events[next++] as Event;
      if (log.ended) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    log.listeners.delete(listener);
  }
}
