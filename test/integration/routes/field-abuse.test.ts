// Malformed and hostile forms over a real socket: each is a 4xx problem with a clear message, and no file of the server is read.
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { readdirSync } from 'node:fs';
import t, { type Test } from 'tap';
import type { Problem } from '../../../schemas/responses/problem.ts';
import { buildTestApp } from '../../support/app.ts';
import { makeImage } from '../../support/images/images.ts';
import { until } from '../../support/system/service.ts';

const { app, spool, logs } = await buildTestApp(t);
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as AddressInfo;
const jpeg = await makeImage({ width: 64, height: 48 }).jpeg().toBuffer();

const BOUNDARY = 'x-boundary-x';
const part = (headers: string, body: Buffer | string): Buffer =>
  Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n${headers}\r\n\r\n`), Buffer.from(body), Buffer.from('\r\n')]);
const field = (name: string, value: Buffer | string): Buffer =>
  part(`Content-Disposition: form-data; name="${name}"`, value);
const file = (name: string, value: Buffer | string, more = ''): Buffer =>
  part(`Content-Disposition: form-data; name="${name}"; filename="a.jpg"\r\nContent-Type: image/jpeg${more}`, value);
const END = Buffer.from(`--${BOUNDARY}--\r\n`);
const image = file('image', jpeg);

interface Raw {
  body: Buffer;
  type?: string;
  headers?: string[];
  length?: number | null;
}

/** Writes the bytes unchanged and reads the response until the server closes. */
function send({
  body,
  type = `multipart/form-data; boundary=${BOUNDARY}`,
  headers = [],
  length = body.length,
}: Raw): Promise<{ status: number; body: string; head: string }> {
  const lines = [
    'POST /assess HTTP/1.1',
    'Host: here',
    'Connection: close',
    ...(type ? [`Content-Type: ${type}`] : []),
    ...(length === null ? [] : [`Content-Length: ${length}`]),
    ...headers,
  ];
  return new Promise((resolve, reject) => {
    let response = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`${lines.join('\r\n')}\r\n\r\n`);
      socket.write(body);
    });
    // The server may close while the client still writes.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (!['EPIPE', 'ECONNRESET'].includes(error.code ?? '')) reject(error);
    });
    socket
      .on('data', (chunk: Buffer) => {
        response += chunk.toString();
      })
      .on('close', () => {
        const [head = '', ...rest] = response.split('\r\n\r\n');
        resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0), head, body: rest.join('\r\n\r\n') });
      });
    if (length !== null && length > body.length) setTimeout(() => socket.end(), 200);
  });
}

const parseProblem = (text: string): Problem =>
  JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as Problem;

async function refuse(
  t: Test,
  name: string,
  raw: Raw,
  expected: { status: number | number[]; detail: RegExp },
): Promise<void> {
  const { status, head, body } = await send(raw);
  t.ok([expected.status].flat().includes(status), `${name}: ${status} ${body.slice(0, 200)}`);
  t.match(head, /content-type: application\/problem\+json/i, name);
  const { detail } = parseProblem(body);
  t.match(
    parseProblem(body),
    { detail: expected.detail, code: /^IQA_INPUT_/, request_id: String },
    `${name}: ${detail}`,
  );
  t.ok(
    /^(Expected|Unexpected|The|This|A) .{15,300}$/.test(detail) && !/undefined|null|\[object|node_modules/.test(detail),
    `a clear message: ${detail.slice(0, 400)}`,
  );
}

const whole = (...parts: Buffer[]): Raw => ({ body: Buffer.concat([...parts, END]) });

t.test('limits', async (t) => {
  const many = Array.from({ length: 10_000 }, (_, index) => field(`field${index}`, 'x'));
  const megabyte = 'n'.repeat(1_000_000);
  await refuse(t, '10,000 fields', whole(image, ...many), {
    status: 413,
    detail: /more fields than this route accepts/,
  });
  await refuse(t, '10,000 fields before the image', whole(...many, image), {
    status: 413,
    detail: /more fields than this route accepts/,
  });
  await refuse(
    t,
    '10,000 fields of one name',
    whole(image, ...Array.from({ length: 10_000 }, () => field('query', 'x'))),
    { status: 422, detail: /Expected query once but received it twice/ },
  );
  await refuse(t, '10,000 choices', whole(image, ...Array.from({ length: 10_000 }, () => field('choices', 'x'))), {
    status: 413,
    detail: /more fields than this route accepts/,
  });
  await refuse(t, '10,000 files', whole(...Array.from({ length: 10_000 }, () => image)), {
    status: 422,
    detail: /Expected image once but received it twice/,
  });
  await refuse(t, 'a field name of 1 MB', whole(image, field(megabyte, 'x')), {
    status: 413,
    detail: /field names of at most 100 bytes/,
  });
  await refuse(t, 'a field name of 10 kB', whole(image, field('n'.repeat(10_000), 'x')), {
    status: 413,
    detail: /field names of at most 100 bytes/,
  });
  await refuse(t, 'a file field with a name of 10 kB', whole(image, file('n'.repeat(10_000), 'x')), {
    status: 422,
    detail: /files only for image and reference/,
  });
  await refuse(t, 'a value of 1 MB', whole(image, field('query', megabyte)), {
    status: 413,
    detail: /at most 100000 bytes for query/,
  });
  await refuse(t, 'an unknown value of 1 MB', whole(image, field('colour', megabyte)), {
    status: 413,
    detail: /at most 100000 bytes for colour/,
  });
  await refuse(
    t,
    'a file name of 1 MB',
    whole(part(`Content-Disposition: form-data; name="image"; filename="${megabyte}"`, jpeg)),
    { status: 413, detail: /file name of at most 1000 bytes for image/ },
  );
  await refuse(
    t,
    'a part with 5,000 headers',
    whole(
      part(
        `Content-Disposition: form-data; name="query"\r\n${Array.from({ length: 5_000 }, (_, index) => `X-${index}: y`).join('\r\n')}`,
        'x',
      ),
    ),
    { status: 422, detail: /Expected a file for image but received none/ },
  );
  await refuse(
    t,
    'a part whose headers never end',
    {
      body: Buffer.concat([
        Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="image"\r\nX: ${megabyte}`),
      ]),
    },
    { status: 400, detail: /malformed: Unexpected end of multipart data/ },
  );
  await refuse(
    t,
    'headers of the request of 100 kB',
    { ...whole(image), headers: [`X-Large: ${'x'.repeat(100_000)}`] },
    { status: 413, detail: /headers are larger/ },
  );
  await refuse(
    t,
    'a thousand headers of the request',
    { ...whole(image), headers: Array.from({ length: 3_000 }, (_, index) => `X-${index}: y`) },
    { status: 413, detail: /headers are larger/ },
  );
});

t.test('boundaries', async (t) => {
  await refuse(
    t,
    'none',
    { ...whole(image), type: 'multipart/form-data' },
    { status: 400, detail: /boundary of 1 to 200 bytes .* received none/ },
  );
  await refuse(
    t,
    'an empty one',
    { ...whole(image), type: 'multipart/form-data; boundary=' },
    { status: 400, detail: /boundary of 1 to 200 bytes .* received none/ },
  );
  await refuse(
    t,
    'another one',
    { ...whole(image), type: 'multipart/form-data; boundary=other' },
    { status: 400, detail: /malformed: Unexpected end of multipart data/ },
  );
  await refuse(
    t,
    'one of 10 kB',
    { ...whole(image), type: `multipart/form-data; boundary=${'b'.repeat(10_000)}` },
    { status: 400, detail: /received one of 10000/ },
  );
  await refuse(
    t,
    'no last one',
    { body: image },
    { status: 400, detail: /malformed: Part terminated early due to unexpected end/ },
  );
  await refuse(
    t,
    'a body without any',
    { body: Buffer.from('hello') },
    { status: 400, detail: /malformed: Unexpected end of multipart data/ },
  );
  await refuse(
    t,
    'an empty body',
    { body: Buffer.alloc(0) },
    { status: 422, detail: /Expected a file for image but received none/ },
  );
  await refuse(
    t,
    'multipart/mixed',
    { ...whole(image), type: `multipart/mixed; boundary=${BOUNDARY}` },
    { status: 415, detail: /Expected multipart\/form-data/ },
  );
  await refuse(t, 'no content type', { ...whole(image), type: '' }, { status: 415, detail: /content type|multipart/ });
  const inner = Buffer.concat([
    Buffer.from('--inner\r\nContent-Disposition: file; filename="a.jpg"\r\n\r\n'),
    jpeg,
    Buffer.from('\r\n--inner--\r\n'),
  ]);
  await refuse(
    t,
    'nested multipart',
    whole(part('Content-Disposition: form-data; name="image"\r\nContent-Type: multipart/mixed; boundary=inner', inner)),
    { status: 422, detail: /Expected a file for image but received/ },
  );
  await refuse(
    t,
    'nested multipart as a file',
    whole(
      part(
        'Content-Disposition: form-data; name="image"; filename="a"\r\nContent-Type: multipart/mixed; boundary=inner',
        inner,
      ),
    ),
    { status: 422, detail: /first bytes match no known image format/ },
  );
});

t.test('text is never a path, and a file is never a text', async (t) => {
  const paths = [
    '/etc/passwd',
    'file:///etc/passwd',
    '../../package.json',
    'docs/example.jpg',
    `${spool.dir}/x`,
    'http://127.0.0.1/',
    'C:\\Windows\\win.ini',
    '{"path":"/etc/passwd"}',
  ];
  for (const path of paths) {
    await refuse(t, path, whole(field('image', path)), {
      status: 422,
      detail: /Expected a file for image but received text/,
    });
    await refuse(t, `reference ${path}`, whole(image, field('reference', path)), {
      status: 422,
      detail: /Expected a file for reference but received text/,
    });
  }
  await refuse(t, 'an image as text', whole(field('image', jpeg)), { status: 422, detail: /received text/ });
  await refuse(
    t,
    'a path as JSON',
    whole(
      part('Content-Disposition: form-data; name="image"\r\nContent-Type: application/json', '{"path":"/etc/passwd"}'),
    ),
    { status: 422, detail: /Expected a file for image but received/ },
  );
  for (const name of ['query', 'choices', 'regions', 'max_replan_iterations', 'align', 'backend', 'prior_context']) {
    await refuse(t, `${name} as a file`, whole(image, file(name, 'x')), {
      status: 422,
      detail: new RegExp(`files only for image and reference but received one for ${name}`),
    });
  }
});

t.test('names', async (t) => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const expected = { status: 422, detail: /^This field name is not allowed$/ };
    await refuse(t, `field "${name}"`, whole(image, field(name, 'x')), expected);
    await refuse(t, `file "${name}"`, whole(image, file(name, jpeg)), expected);
  }
  const nameless = { status: 422, detail: /Expected a name for every part of the form/ };
  await refuse(t, 'a field without a name', whole(image, field('', 'x')), nameless);
  await refuse(t, 'a file without a name', whole(image, file('', jpeg)), nameless);
  const unknown = [
    'prototype',
    ' ',
    'image ',
    'Image',
    'image[]',
    'image[path]',
    'a\u0000b',
    'session',
    'files',
    'body',
  ];
  for (const name of unknown) {
    await refuse(t, `field "${name}"`, whole(image, field(name, 'x')), {
      status: 422,
      detail: /^Unexpected \/[^:]+: expected only the fields image, reference, query/,
    });
    await refuse(t, `file "${name}"`, whole(image, file(name, jpeg)), {
      status: 422,
      detail: /^Expected files only for image and reference but received one for /,
    });
  }
  t.equal(({} as Record<string, unknown>)['x'], undefined);
  for (const name of ['query', 'align', 'backend', 'regions', 'prior_context', 'max_replan_iterations']) {
    const value = { regions: '[]', prior_context: '{}', max_replan_iterations: '1', align: 'none' }[name] ?? 'auto';
    await refuse(t, `${name} twice`, whole(image, field(name, value), field(name, value)), {
      status: 422,
      detail: new RegExp(`Expected ${name} once`),
    });
  }
  await refuse(t, 'image twice', whole(image, image), { status: 422, detail: /Expected image once/ });
  await refuse(t, 'a file and a text called image', whole(image, field('image', 'x')), {
    status: 422,
    detail: /received text/,
  });
  await refuse(t, 'three files', whole(image, file('reference', jpeg), file('reference', jpeg)), {
    status: 413,
    detail: /more files than this route accepts/,
  });
});

t.test('encodings of parts', async (t) => {
  for (const encoding of ['base64', 'quoted-printable', 'x-uuencode', 'gzip', '../../etc']) {
    await refuse(
      t,
      encoding,
      whole(file('image', jpeg.toString('base64'), `\r\nContent-Transfer-Encoding: ${encoding}`)),
      { status: 422, detail: /plain bytes for image but received the transfer encoding/ },
    );
    await refuse(
      t,
      `${encoding} of a field`,
      whole(
        image,
        part(`Content-Disposition: form-data; name="query"\r\nContent-Transfer-Encoding: ${encoding}`, 'U2hhcnA/'),
      ),
      { status: 422, detail: /plain bytes for query/ },
    );
  }
  for (const encoding of ['binary', '8bit', '7bit', 'BINARY']) {
    const { status, body } = await send(whole(file('image', jpeg, `\r\nContent-Transfer-Encoding: ${encoding}`)));
    t.equal(status, 200, `${encoding}: ${body.slice(0, 200)}`);
  }
  await refuse(t, 'a part without a name', whole(image, part('Content-Disposition: form-data', 'x')), {
    status: 422,
    detail: /name for every part/,
  });
  await refuse(
    t,
    'broken JSON in a part declared as such',
    whole(image, part('Content-Disposition: form-data; name="regions"\r\nContent-Type: application/json', '[{')),
    { status: 422, detail: /not valid JSON/ },
  );
});

t.test('lengths and chunks', async (t) => {
  const { body } = whole(image);
  await refuse(
    t,
    'a length that is too small',
    { body, length: body.length - 100 },
    { status: 400, detail: /malformed|not valid HTTP/ },
  );
  await refuse(
    t,
    'a length that is too large',
    { body, length: body.length + 100 },
    { status: 400, detail: /not valid HTTP/ },
  );
  await refuse(
    t,
    'a length that is not a number',
    { body, length: null, headers: ['Content-Length: many'] },
    { status: 400, detail: /not valid HTTP/ },
  );
  await refuse(
    t,
    'a negative length',
    { body, length: null, headers: ['Content-Length: -5'] },
    { status: 400, detail: /not valid HTTP/ },
  );
  await refuse(
    t,
    'two lengths',
    { body, length: null, headers: ['Content-Length: 5', 'Content-Length: 6'] },
    { status: 400, detail: /not valid HTTP/ },
  );
  await refuse(
    t,
    'a length and chunks',
    { body, headers: ['Transfer-Encoding: chunked'] },
    { status: 400, detail: /not valid HTTP/ },
  );
  await refuse(
    t,
    'chunks that are garbage',
    { body: Buffer.from('zz\r\nhello\r\n'), length: null, headers: ['Transfer-Encoding: chunked'] },
    { status: 400, detail: /not valid HTTP/ },
  );
  await refuse(
    t,
    'a chunk of 2⁶⁴ bytes',
    { body: Buffer.from('ffffffffffffffffff\r\nhello\r\n'), length: null, headers: ['Transfer-Encoding: chunked'] },
    { status: 400, detail: /not valid HTTP/ },
  );
  await refuse(
    t,
    'JSON that announces more than the route accepts',
    { body: Buffer.from('x'), length: 1_000_000_000, type: 'application/json' },
    { status: 413, detail: /body is larger than this route accepts/ },
  );
  await refuse(
    t,
    'a gzipped body',
    { body, headers: ['Content-Encoding: gzip'] },
    { status: 415, detail: /content encoding/i },
  );
});

t.test('afterwards a valid form is answered, the spool is empty and no server error was logged', async (t) => {
  t.equal((await send(whole(image))).status, 200);
  await until(() => readdirSync(spool.dir).length === 0);
  const error = logs.find((line) => Number(line['level']) >= 50);
  t.equal(error, undefined, 'no error in the log');
});
