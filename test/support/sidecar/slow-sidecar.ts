// A sidecar that has a tool but answers a call to measure only as the test wishes.
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

const TOOLS = JSON.stringify({
  contract: 1,
  engine: 'slow',
  measurements: { version: '1', catalogue: [] },
  limits: { max_bytes: 1, max_pixels: 1, max_regions: 1, max_tools: 1 },
  tools: [
    {
      name: 'NIQE',
      version: '1.0.1',
      needs_reference: false,
      min_side: 1,
      has_map: false,
      available: true,
      reason: null,
    },
  ],
});
const HEALTH = JSON.stringify({
  status: 'ok',
  contract: 1,
  workers: { total: 1, busy: 0 },
  queue: { waiting: 0, limit: 1 },
});

export async function slowSidecar(t: Test, onMeasure: (response: ServerResponse) => void): Promise<string> {
  const listener: RequestListener = (request, response) => {
    if (request.url === '/v1/tools') response.end(TOOLS);
    else if (request.url === '/v1/health') response.end(HEALTH);
    else
      request.resume().on('end', () => {
        onMeasure(response);
      });
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
