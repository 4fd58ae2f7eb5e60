// The time a request may take, as a signal for those who can be stopped and a number for those who can plan ahead.
export interface Deadline {
  signal: AbortSignal;
  limitMs: number;
  /** Milliseconds left; never negative. */
  remaining: () => number;
}

export function startDeadline(limitMs: number): Deadline {
  const end = performance.now() + limitMs;
  return { signal: AbortSignal.timeout(limitMs), limitMs, remaining: () => Math.max(0, end - performance.now()) };
}
