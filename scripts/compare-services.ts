// Sends the same 60 requests to two running services and lists what differs in their answers.
// Usage: node --import=ts-blank-space/register scripts/compare-services.ts http://old:3000 http://new:3000
// Ids, times and the keys in RENAMED_KEYS are left out of the comparison; texts are listed apart from values.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { projectRoot } from '../src/config/config.ts';

interface GoldenRequest {
  name: string;
  method?: string;
  path: string;
  fields?: Record<string, string | string[]>;
  files?: Record<string, Buffer | Buffer[]>;
  json?: unknown;
  headers?: Record<string, string>;
}

interface Difference {
  path: string;
  old: unknown;
  new: unknown;
}

/** Old name → new name, for keys and for names used as values. */
const RENAMED: [RegExp, string][] = [
  [/\bseen_/g, 'detected_'],
  [/^sides$/, 'variants'],
  [/^picture$/, 'number'],
  [/^pictures$/, 'images'],
];
/** Values that are never the same twice, or describe the machine. */
const VOLATILE_KEYS =
  /^(?:id|request_id|timestamp|execution_time|timings_ms|cached|cache|versions?|uptime.*|time_ms|elapsed_ms|queue_ms|.*etag|date|sidecar_ms|counters?|in_flight)$/;
/** Keys that hold English sentences; everything else is a value. */
const TEXT_KEYS =
  /^(?:title|detail|description|quality_reasoning|explanation|reason|reasons|notes|message|advice|why|summary|degraded_reason|error|errors|mermaid|meaning|help|hint|replan_reason|final_answer|text|strengths_origin|origin|licence_note|unavailable|source|verdict)$/;

const [oldUrl, newUrl] = process.argv.slice(2);
if (!oldUrl || !newUrl) {
  console.error('Usage: compare-services.ts OLD_URL NEW_URL');
  process.exit(2);
}

const requests = await listRequests();
const texts: string[] = [];
let equal = 0;
let different = 0;
for (const request of requests) {
  const [before, after] = [await send(oldUrl, request), await send(newUrl, request)];
  const differences = listDifferences(rename(before), after, '');
  const values = differences.filter(({ path }) => !isText(path));
  for (const { path, old, new: now } of differences.filter(({ path }) => isText(path)))
    texts.push(`${request.name} ${path}\n    old: ${show(old)}\n    new: ${show(now)}`);
  if (values.length === 0) equal += 1;
  else {
    different += 1;
    console.log(`DIFFERENT ${request.name}`);
    for (const { path, old, new: now } of values.slice(0, 12)) console.log(`    ${path}: ${show(old)} -> ${show(now)}`);
  }
}
console.log(`\nReworded texts (${String(texts.length)}):`);
for (const text of texts) console.log(`  ${text}`);
console.log(
  `\n${String(requests.length)} requests: ${String(equal)} equal but for texts, ${String(different)} different`,
);
process.exit(different === 0 ? 0 : 1);

async function listRequests(): Promise<GoldenRequest[]> {
  const photo = readFileSync(join(projectRoot(), 'docs/example.jpg'));
  const small = await sharp(photo).resize(320, 240, { fit: 'fill' }).png().toBuffer();
  const blurred = await sharp(small).blur(3).png().toBuffer();
  const noisy = await addNoise(small, 30);
  const dark = await sharp(small).linear(0.35, 0).png().toBuffer();
  const bright = await sharp(small).linear(1.6, 60).png().toBuffer();
  const grey = await sharp(small).greyscale().png().toBuffer();
  const flat = await sharp(small).linear(0.3, 90).png().toBuffer();
  const compressed = await sharp(small).jpeg({ quality: 8 }).toBuffer();
  const webp = await sharp(small).webp({ quality: 60 }).toBuffer();
  const tiny = await sharp(small).resize(24, 18).png().toBuffer();
  const other = await sharp(small).resize(200, 150).png().toBuffer();
  const box = JSON.stringify([{ name: 'vehicle', box: [40, 30, 160, 140] }]);
  const ask = (name: string, image: Buffer, query?: string, more: Partial<GoldenRequest> = {}): GoldenRequest => ({
    name,
    path: '/assess',
    ...more,
    fields: { ...(query === undefined ? {} : { query }), ...more.fields },
    files: { image, ...more.files },
  });
  const get = (path: string, headers?: Record<string, string>): GoldenRequest => ({
    name: `GET ${path}`,
    method: 'GET',
    path,
    ...(headers ? { headers } : {}),
  });
  return [
    get('/health'),
    get('/tools'),
    get('/tools/SSIM'),
    get('/tools/none'),
    get('/graph'),
    get('/schemas'),
    get('/schemas/PlannerOutput'),
    get('/errors/IQA_INPUT_IMAGE'),
    get('/errors/none'),
    get('/nothing-here'),
    { name: 'DELETE /assess', method: 'DELETE', path: '/assess' },
    { name: 'POST /assess without a body', path: '/assess' },
    { name: 'POST /assess as text', path: '/assess', headers: { 'content-type': 'text/plain' } },
    { name: 'an empty form', path: '/assess', fields: { query: 'How is it?' } },
    ask('a text file as image', Buffer.from('this is not an image')),
    ask('a damaged PNG', small.subarray(0, 400)),
    ask('an empty query', small, ' '),
    ask('an unknown field', small, 'Rate it.', { fields: { colour: 'red' } }),
    ask('a box outside the image', small, 'Rate the car.', {
      fields: { regions: JSON.stringify([{ name: 'car', box: [0, 0, 5000, 5000] }]) },
    }),
    ask('an unknown map', small, 'Rate it.', { fields: { maps: 'nonsense' } }),
    ask('an unknown backend', small, 'Rate it.', { fields: { backend: 'nonsense' } }),
    ask('a reference of another size', small, 'Rate it.', { files: { reference: other } }),
    ask('an aligned reference', small, 'Rate it.', { files: { reference: other }, fields: { align: 'resize' } }),
    { name: 'JSON without an image', path: '/assess', json: { query: 'Rate it.' } },
    { name: 'JSON', path: '/assess', json: { image: { base64: noisy.toString('base64') }, query: 'Is there noise?' } },
    ask('the default question', photo),
    ask('a photo, described', photo, 'Describe the quality of this photo.'),
    ask('blur, yes or no', blurred, 'Is this image blurry?'),
    ask('blur, how strong', blurred, 'How severe is the blur?'),
    ask('blur, why', blurred, 'Why does this look bad?'),
    ask('blur, fix', blurred, 'How can I fix this image?'),
    ask('noise, yes or no', noisy, 'Is there visible noise in this photo?'),
    ask('noise, where', noisy, 'Where is the noise?'),
    ask('noise, threshold', noisy, 'Is the quality above 3?'),
    ask('dark', dark, 'Is it too dark?'),
    ask('dark, rate', dark, 'Rate the exposure.'),
    ask('bright', bright, 'Is this overexposed?'),
    ask('grey', grey, 'Are the colors washed out?'),
    ask('low contrast', flat, 'How is the contrast?'),
    ask('compressed', compressed, 'Are there compression artifacts?'),
    ask('webp', webp, 'What is wrong with this image?'),
    ask('tiny', tiny, 'Rate the quality.'),
    ask('choices', blurred, 'Which distortion is the most severe?', {
      fields: { choices: ['Noise', 'Blur', 'Compression'] },
    }),
    ask('choices in the query', dark, 'How is the quality? A) Excellent B) Good C) Fair D) Poor E) Bad'),
    ask('a region', blurred, 'Rate the quality of the vehicle.', { fields: { regions: box } }),
    ask('a region, yes or no', noisy, 'Is the vehicle noisy?', { fields: { regions: box } }),
    ask('an object without a box', small, 'Is the dog blurry?'),
    ask('a named tool', small, 'Use NIQE to rate this image.'),
    ask('two named tools', blurred, 'What do BRISQUE and PIQE say?'),
    ask('reference, rate', blurred, 'How good is this compared with the original?', { files: { reference: small } }),
    ask('reference, named tool', compressed, 'Compute SSIM.', { files: { reference: small } }),
    ask('reference, identical', small, 'Are there any differences?', { files: { reference: small } }),
    ask('reference, choices', noisy, 'Which?', { files: { reference: small }, fields: { choices: ['Blur', 'Noise'] } }),
    ask('maps', noisy, 'Where is it bad?', { fields: { maps: ['noise', 'blur'] } }),
    ask('maps with a reference', blurred, 'Rate it.', { files: { reference: small }, fields: { maps: 'SSIM' } }),
    ask('no replanning', dark, 'Rate it.', { fields: { max_replan_iterations: '0' } }),
    ask('server-sent events', blurred, 'Is it blurry?', { headers: { accept: 'text/event-stream' } }),
    compare('three images', [small, blurred, noisy]),
    compare('two equal images', [small, small]),
    compare('one image', [small]),
    compare('a broken second image', [small, Buffer.from('no image')]),
  ];
}

function compare(name: string, images: Buffer[]): GoldenRequest {
  return { name: `compare ${name}`, path: '/compare', files: { images } };
}

/** Gaussian-like noise from a fixed seed, so that both services and every run see the same image. */
async function addNoise(image: Buffer, strength: number): Promise<Buffer> {
  const { data, info } = await sharp(image).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  let state = 12345;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  for (let at = 0; at < data.length; at += 1) {
    const noise = (random() + random() + random() + random() - 2) * strength;
    data[at] = Math.max(0, Math.min(255, Math.round((data[at] ?? 0) + noise)));
  }
  return sharp(data, { raw: info }).png().toBuffer();
}

async function send(
  base: string,
  { method = 'POST', path, fields, files, json, headers = {} }: GoldenRequest,
): Promise<unknown> {
  let body: FormData | string | null = null;
  if (json !== undefined) body = JSON.stringify(json);
  else if (fields || files) {
    body = new FormData();
    for (const [name, value] of Object.entries(fields ?? {})) for (const one of [value].flat()) body.append(name, one);
    for (const [name, value] of Object.entries(files ?? {}))
      for (const [index, one] of [value].flat().entries())
        body.append(name, new Blob([new Uint8Array(one)]), `image-${String(index + 1)}.bin`);
  } else if (headers['content-type'] !== undefined) body = 'text';
  const response = await fetch(new URL(path, base), {
    method,
    headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), connection: 'close', ...headers },
    body: method === 'GET' || method === 'DELETE' ? null : body,
  });
  return { status: response.status, type: response.headers.get('content-type'), body: readBody(await response.text()) };
}

function readBody(text: string): unknown {
  if (text.startsWith('event:') || text.startsWith(':') || text.startsWith('id:'))
    return [...text.matchAll(/^event: (.*)$|^data: (.*)$/gm)].map(([, event, data]) => event ?? readBody(data ?? ''));
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}

/** The old answer with today's names. */
function rename(value: unknown): unknown {
  const renamed = (text: string) => RENAMED.reduce((name, [old, now]) => name.replace(old, now), text);
  if (typeof value === 'string') return renamed(value);
  if (Array.isArray(value)) return value.map(rename);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [renamed(key), rename(one)]));
}

function listDifferences(old: unknown, now: unknown, path: string): Difference[] {
  if (VOLATILE_KEYS.test(path.split('.').at(-1) ?? '')) return [];
  if (typeof old !== 'object' || typeof now !== 'object' || old === null || now === null)
    return Object.is(old, now) ? [] : [{ path, old, new: now }];
  const keys = new Set([...Object.keys(old), ...Object.keys(now)]);
  const field = (value: object, key: string) => (value as Record<string, unknown>)[key];
  return [...keys].flatMap((key) => listDifferences(field(old, key), field(now, key), `${path}.${key}`));
}

function isText(path: string): boolean {
  return path.split('.').some((key) => TEXT_KEYS.test(key));
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 300);
}
