// Cuts uploads that have come to a standstill: whoever stops sending must not keep a seat in the house.
import type { FastifyRequest } from 'fastify';

const LOOK_EVERY_MS = 500;

/** Calls back once when no byte has come for so long while the body is incomplete. The returned function ends the watch. */
export function watchUpload({ raw }: FastifyRequest, idleMs: number, onStall: () => void): () => void {
  let seen = raw.socket.bytesRead;
  let since = performance.now();
  const timer = setInterval(() => {
    if (raw.complete || raw.destroyed) {
      clearInterval(timer);
    } else if (raw.socket.bytesRead !== seen) {
      seen = raw.socket.bytesRead;
      since = performance.now();
    } else if (performance.now() - since > idleMs) {
      clearInterval(timer);
      onStall();
    }
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
