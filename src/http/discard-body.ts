// Reads and discards the rest of a request body after an early response, so that the connection can serve the next request.
import type { IncomingMessage } from 'node:http';

/** More than any accepted body; a client that sends on and on is cut off. */
const MAX_DISCARDED_BYTES = 128_000_000;
const MAX_DISCARD_MS = 10_000;

/**
 * Node does this itself only for bodies that were never read. A form parser that stopped in the middle leaves bytes in the socket,
 * and clients that reuse the connection would wait for ever.
 */
export function discardBody(request: IncomingMessage): void {
  if (request.readableEnded || request.destroyed) return;
  let left = MAX_DISCARDED_BYTES;
  const cut = () => request.destroy();
  const timer = setTimeout(cut, MAX_DISCARD_MS).unref();
  const stopTimer = () => {
    clearTimeout(timer);
  };
  request.once('end', stopTimer).once('close', stopTimer);
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) cut();
  });
  request.unpipe();
  request.resume();
}
