// Identical requests at the same time: one run, whose progress and result everybody gets who asked for it.
export interface Flight<Event, Result> {
  result: Promise<Result>;
  /** Everything reported so far and from now on; ends with the run. */
  events: () => AsyncGenerator<Event, void>;
  /** Whether this call began the run, and so owns what it works on. */
  isNew: boolean;
}

export type Work<Event, Result> = (report: (event: Event) => void, signal: AbortSignal) => Promise<Result>;

export interface Flights<Event, Result> {
  /** Begins the run for this key or joins the one under way. The run is stopped when all who joined have gone. */
  join: (key: string, signal: AbortSignal, work: Work<Event, Result>) => Flight<Event, Result>;
}

interface Running<Event, Result> {
  result: Promise<Result>;
  log: Event[];
  ended: boolean;
  /** Called at every new event and at the end. */
  listeners: Set<() => void>;
  passengers: number;
  controller: AbortController;
}

export function createFlights<Event, Result>(): Flights<Event, Result> {
  const running = new Map<string, Running<Event, Result>>();

  function begin(key: string, work: Work<Event, Result>): Running<Event, Result> {
    const controller = new AbortController();
    const flight: Running<Event, Result> = {
      result: Promise.resolve(null as never),
      log: [],
      ended: false,
      listeners: new Set(),
      passengers: 0,
      controller,
    };
    const tell = () => {
      for (const listener of flight.listeners) listener();
    };
    const report = (event: Event) => {
      flight.log.push(event);
      tell();
    };
    running.set(key, flight);
    flight.result = work(report, controller.signal).finally(() => {
      flight.ended = true;
      if (running.get(key) === flight) running.delete(key);
      tell();
    });
    // A failure that nobody waits for any more is not worth a crash.
    flight.result.catch(() => undefined);
    return flight;
  }

  return {
    join(key, signal, work) {
      signal.throwIfAborted();
      const underWay = running.get(key);
      const flight = underWay ?? begin(key, work);
      flight.passengers += 1;
      signal.addEventListener(
        'abort',
        () => {
          flight.passengers -= 1;
          if (flight.passengers > 0) return;
          // Nobody may board a run that is being stopped.
          if (running.get(key) === flight) running.delete(key);
          flight.controller.abort(signal.reason);
        },
        { once: true },
      );
      return { result: flight.result, events: () => follow(flight), isNew: underWay === undefined };
    },
  };
}

async function* follow<Event>(flight: Running<Event, unknown>): AsyncGenerator<Event, void> {
  let next = 0;
  let wake: () => void = () => undefined;
  const listener = () => {
    wake();
  };
  flight.listeners.add(listener);
  try {
    for (;;) {
      while (next < flight.log.length) yield flight.log[next++] as Event;
      if (flight.ended) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    flight.listeners.delete(listener);
  }
}
