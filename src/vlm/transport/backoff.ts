// Exponential backoff with jitter; honours the provider's Retry-After.

export interface BackoffSettings {
  /** Milliseconds. */
  first: number;
  longest: number;
}

/** `attempt`: the failed one, counted from 1. Half of the wait is random, so that clients do not retry in step. */
export function backoffMs(
  attempt: number,
  settings: BackoffSettings,
  retryAfterMs: number | undefined,
  random: () => number,
): number {
  const ceiling = Math.min(settings.longest, settings.first * 2 ** (attempt - 1));
  const jittered = ceiling / 2 + (random() * ceiling) / 2;
  // Retry-After is a minimum.
  return retryAfterMs === undefined ? jittered : retryAfterMs + (random() * settings.first) / 2;
}
