// A provider as bare as can be: an HTTP server that gives one answer after the other, whatever it is asked, and the back end that asks it.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { backendsFor } from './models.ts';
import type { Wire } from './provider-double.ts';

export const BACKEND_NAMES = {
  openai: 'openai.gpt-4o',
  anthropic: 'anthropic.claude-3.5-sonnet',
  google: 'google.gemini-3.5-flash-lite',
} as const satisfies Record<Wire, string>;

/** `answer` is called with the number of answers given before. */
export async function startBareServer(
  t: Test,
  wire: Wire,
  key: string,
  answer: (response: ServerResponse, before: number) => void,
) {
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      answer(response, asked++);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const environment = {
    openai: { OPENAI_API_KEY: key, OPENAI_BASE_URL: `${url}/v1` },
    anthropic: { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: url },
    google: { GOOGLE_API_KEY: key, GOOGLE_API_BASE_URL: url },
  }[wire];
  const [backend] = backendsFor(environment, BACKEND_NAMES[wire]);
  return { backend: backend!, asked: () => asked };
}
