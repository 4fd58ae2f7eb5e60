// A refused upload leaves its connection usable: the next request on it is answered.
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import t from 'tap';
import { Agent } from 'undici';
import { buildTestApp, formRequest, type FormFields } from '../../support/app.ts';

const SIZES = { '9 kB': 9_000, '900 kB': 900_000, '20 MB': 20_000_000 };
const REGIONS = '[{"name":"car"}]';
/** Refused while the parser is in the middle of the form. */
const REFUSED: Record<string, (file: Buffer) => FormFields> = {
  'a file in an unknown field': (file) => ({ photo: file, query: 'How is it?' }),
  'a text in an unknown field': (file) => ({ colour: 'red', image: file }),
  'regions that are not valid, before the file': (file) => ({ regions: REGIONS, image: file }),
  'an image that is text, and a file after it': (file) => ({ image: 'no file', reference: file }),
};

const { app } = await buildTestApp(t);
const address = await app.listen({ host: '127.0.0.1', port: 0 });

/** Resolves to the status. */
function createNodeClient(agent: HttpAgent) {
  return (path: string, headers: Record<string, string>, body?: Buffer) =>
    new Promise<number>((resolve, reject) => {
      const request = httpRequest(
        `${address}${path}`,
        { agent, method: body ? 'POST' : 'GET', headers },
        (response) => {
          response.resume();
          response.on('end', () => {
            resolve(response.statusCode ?? 0);
          });
        },
      );
      request.on('error', reject);
      request.end(body);
    });
}

t.test('node:http with a kept connection', async (t) => {
  for (const [title, buildForm] of Object.entries(REFUSED)) {
    for (const [size, bytes] of Object.entries(SIZES)) {
      const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 });
      const send = createNodeClient(agent);
      const { headers, payload } = await formRequest(buildForm(Buffer.alloc(bytes, 1)));
      const body = payload as Buffer;
      const first = await send(
        '/assess',
        { ...(headers as Record<string, string>), 'content-length': String(body.length) },
        body,
      );
      t.equal(first, 422, `${title}, ${size}`);
      t.equal(await send('/health', {}), 200, `the next request after ${title}, ${size}`);
      agent.destroy();
    }
  }
});

t.test('undici with one connection', async (t) => {
  for (const [title, buildForm] of Object.entries(REFUSED)) {
    for (const [size, bytes] of Object.entries(SIZES)) {
      const dispatcher = new Agent({ connections: 1, pipelining: 1 });
      const { headers, payload } = await formRequest(buildForm(Buffer.alloc(bytes, 1)));
      const refused = await dispatcher.request({
        origin: address,
        path: '/assess',
        method: 'POST',
        headers: headers as Record<string, string>,
        body: payload as Buffer,
      });
      t.equal(refused.statusCode, 422, `${title}, ${size}`);
      await refused.body.dump();
      const { statusCode, body } = await dispatcher.request({ origin: address, path: '/health', method: 'GET' });
      await body.dump();
      t.equal(statusCode, 200, `the next request after ${title}, ${size}`);
      await dispatcher.close();
    }
  }
});
