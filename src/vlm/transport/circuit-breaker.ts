// Circuit breaker: after consecutive failures a back end is paused, then probed with one call.

export interface CircuitBreaker {
  /** Whether a call may be made now. An allowed call must report its outcome. */
  allow: () => boolean;
  onSuccess: () => void;
  onFailure: () => void;
  /** The outcome says nothing about the back end's health. */
  onNeutral: () => void;
}

interface BreakerSettings {
  failures: number;
  /** Milliseconds. */
  pause: number;
}

export function createCircuitBreaker(
  { failures: limit, pause }: BreakerSettings,
  now: () => number = () => performance.now(),
): CircuitBreaker {
  let failures = 0;
  let pausedUntil = 0;
  let probing = false;
  return {
    allow() {
      if (failures < limit) return true;
      if (now() < pausedUntil || probing) return false;
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
      if (failures >= limit) pausedUntil = now() + pause;
    },
    onNeutral() {
      probing = false;
    },
  };
}
