// The time limit of a request, as an abort signal and as the remaining milliseconds.
export interface Deadline {
  /** Aborted when the time is up. */
  signal: AbortSignal;
  limitMs: number;
  /** Milliseconds left; never negative. */
  remaining: () => number;
}

export function startDeadline(limitMs: number): Deadline {
  const end = performance.now() + limitMs;
  return { signal: AbortSignal.timeout(limitMs), limitMs, remaining: () => Math.max(0, end - performance.now()) };
}
