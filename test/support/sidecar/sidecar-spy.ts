// A proxy in front of the real sidecar that counts measure calls and can hold them back.
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { testSidecar } from '../app.ts';

export interface WatchedSidecar {
  origin: string;
  measured: () => number;
  /** From now on calls wait until `release`. */
  hold: () => void;
  release: () => void;
}

export async function watchSidecar(t: Test): Promise<WatchedSidecar> {
  const behind = new URL((await testSidecar(t))() ?? '');
  let measured = 0;
  let held: (() => void)[] | null = null;
  const pass = (request: IncomingMessage, response: ServerResponse) => {
    const call = forward(
      { host: behind.hostname, port: behind.port, path: request.url, method: request.method, headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      },
    );
    call.on('error', () => response.destroy());
    response.on('close', () => call.destroy());
    request.pipe(call);
  };
  const server = createServer((request, response) => {
    const measuring = request.method === 'POST';
    if (measuring) measured += 1;
    if (measuring && held)
      held.push(() => {
        pass(request, response);
      });
    else pass(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    measured: () => measured,
    hold: () => {
      held ??= [];
    },
    release: () => {
      const waiting = held ?? [];
      held = null;
      for (const go of waiting) go();
    },
  };
}
