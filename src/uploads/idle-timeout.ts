// Detects uploads that stop sending, so that they do not hold a slot.
import type { FastifyRequest } from 'fastify';

const CHECK_INTERVAL_MS = 500;

/** Calls back once if an incomplete body receives no byte for `idleMs`. The returned function stops the watch. */
export function watchIdleUpload({ raw }: FastifyRequest, idleMs: number, onIdle: () => void): () => void {
  let bytesRead = raw.socket.bytesRead;
  let since = performance.now();
  const timer = setInterval(() => {
    if (raw.complete || raw.destroyed) {
      clearInterval(timer);
    } else if (raw.socket.bytesRead !== bytesRead) {
      bytesRead = raw.socket.bytesRead;
      since = performance.now();
    } else if (performance.now() - since > idleMs) {
      clearInterval(timer);
      onIdle();
    }
  }, CHECK_INTERVAL_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
