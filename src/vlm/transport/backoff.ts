// How long to wait before the next attempt: longer each time, never in step with others, and as the provider asked.

export interface BackoffSettings {
  /** Milliseconds. */
  first: number;
  longest: number;
}

/** `attempt` counts from 1: the one that failed. Half of the wait is chance, so that clients that failed together do not return together. */
export function backoffMs(
  attempt: number,
  settings: BackoffSettings,
  retryAfterMs: number | undefined,
  random: () => number,
): number {
  const ceiling = Math.min(settings.longest, settings.first * 2 ** (attempt - 1));
  const jittered = ceiling / 2 + (random() * ceiling) / 2;
  // Who names a time means at least that.
  return retryAfterMs === undefined ? jittered : retryAfterMs + (random() * settings.first) / 2;
}
