/** Milliseconds that a stage may take of the time left: part of it is reserved for the stages that follow. */
export function stageLimitMs(timeoutMs: number, reserveMs: number, leftMs: number): number {
  return Math.min(timeoutMs, Math.ceil(leftMs - Math.min(reserveMs, leftMs / 4)));
}
