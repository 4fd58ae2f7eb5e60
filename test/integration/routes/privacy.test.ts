// Metadata of an image never leaves the service: everything it sends, logs, returns or keeps is searched for it.
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdirSync } from 'node:fs';
import type { Sharp } from 'sharp';
import t, { type Test } from 'tap';
import type { SidecarOrigin } from '../../../src/tools/sidecar/client.ts';
import { buildTestApp, formRequest, testSidecar } from '../../support/app.ts';
import { makeImage } from '../../support/images/images.ts';
import { until } from '../../support/system/service.ts';

const SECRET = 'OwnerOfThisCamera';
const LATITUDE = Buffer.from([52, 0, 0, 0, 1, 0, 0, 0, 31, 0, 0, 0, 1, 0, 0, 0]);

/** The real sidecar behind a proxy that records every byte sent to it. */
async function recordTraffic(t: Test, origin: SidecarOrigin): Promise<{ origin: SidecarOrigin; recorded: Buffer[] }> {
  const recorded: Buffer[] = [];
  const target = new URL(origin() ?? '');
  const server = createServer((request, response) => {
    const forwarded = httpRequest(
      { host: target.hostname, port: target.port, path: request.url, method: request.method, headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      },
    );
    request.on('data', (chunk: Buffer) => {
      recorded.push(chunk);
    });
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`, recorded };
}

t.test('EXIF with GPS, XMP and file names are neither forwarded, logged, returned nor kept', async (t) => {
  const { origin, recorded } = await recordTraffic(t, await testSidecar(t));
  const { app, logs, spool } = await buildTestApp(t, { origin, environment: { IQA_LOG_LEVEL: 'trace' } });
  const makePrivateImage = (seed: number) =>
    makeImage({ width: 96, height: 80, seed })
      .withExif({
        IFD0: { Artist: SECRET, Model: SECRET },
        IFD2: { UserComment: SECRET, BodySerialNumber: SECRET },
        IFD3: {
          GPSLatitudeRef: 'N',
          GPSLatitude: '52/1 31/1 12/1',
          GPSLongitudeRef: 'E',
          GPSLongitude: '13/1 24/1 36/1',
          GPSAreaInformation: SECRET,
        },
      })
      .withXmp(
        `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="${SECRET}"/></rdf:RDF></x:xmpmeta>`,
      );
  const encodings: Record<string, (image: Sharp) => Sharp> = {
    jpeg: (image) => image.jpeg(),
    turned: (image) => image.withMetadata({ orientation: 6 }).jpeg(),
    png: (image) => image.png(),
    webp: (image) => image.webp(),
    lossless: (image) => image.webp({ lossless: true }),
    avif: (image) => image.avif({ effort: 0 }),
    tiff: (image) => image.tiff(),
  };
  for (const [index, [name, encode]] of Object.entries(encodings).entries()) {
    const data = await encode(makePrivateImage(index + 1)).toBuffer();
    t.ok(data.includes(SECRET), `${name}: it is in the file`);
    const files = {
      image: { data, filename: `${SECRET}.jpg`, type: `image/${SECRET}` },
      reference: { data: await encode(makePrivateImage(50)).toBuffer(), filename: `${SECRET}.jpg` },
    };
    const good = await app.inject(await formRequest(files));
    t.equal(good.statusCode, 200, `${name}: ${good.body.slice(0, 300)}`);
    const refused = await app.inject(
      await formRequest({ image: { data: data.subarray(0, data.length >> 1), filename: `${SECRET}.jpg` } }),
    );
    t.equal(refused.statusCode, 422, name);
    for (const { body, headers } of [good, refused]) t.notMatch(body + JSON.stringify(headers), SECRET, name);
  }
  const sent = Buffer.concat(recorded);
  t.ok(sent.length > 50_000, 'images were sent');
  t.notOk(
    sent.includes(SECRET) || sent.includes('Exif') || sent.includes(LATITUDE) || sent.includes('xmpmeta'),
    'to the sidecar',
  );
  t.notMatch(JSON.stringify(logs), SECRET, 'in the log');
  await until(() => readdirSync(spool.dir).length === 0);
});
