// Stops hammering a back end that is dead: after some failures in a row it is left alone for a while, then tried by one call.

export interface CircuitBreaker {
  /** Whether a call may be made now. A call that is let through must report how it went. */
  allow: () => boolean;
  onSuccess: () => void;
  onFailure: () => void;
  /** The call ended without telling anything about the back end's health. */
  onNeutral: () => void;
}

export interface BreakerSettings {
  failures: number;
  /** Milliseconds. */
  pause: number;
}

export function createCircuitBreaker(
  { failures: limit, pause }: BreakerSettings,
  now: () => number = () => performance.now(),
): CircuitBreaker {
  let failures = 0;
  let closedUntil = 0;
  let probing = false;
  return {
    allow() {
      if (failures < limit) return true;
      if (now() < closedUntil || probing) return false;
      probing = true;
      return true;
    },
    onSuccess() {
      failures = 0;
      probing = false;
    },
    onFailure() {
      failures += 1;
      probing = false;
      if (failures >= limit) closedUntil = now() + pause;
    },
    onNeutral() {
      probing = false;
    },
  };
}
