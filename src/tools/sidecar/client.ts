// The only place that talks to the sidecar: frames a call, streams its answer line by line, translates its failures.
import { createReadStream, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { Static, TSchema } from 'typebox';
import { Pool, type Dispatcher } from 'undici';
import {
  CONTRACT_VERSION, MEASURE_MEDIA_TYPE, MeasureEvent, SidecarFailure, SidecarHealth, SidecarTools, type MeasureHeader,
} from '../../../schemas/sidecar.ts';
import { parse, parseJson, ValidationError } from '../../../schemas/validation/model.ts';
import { IqaError, isAbort } from '../../errors.ts';

export interface MeasureCall {
  header: Omit<MeasureHeader, 'contract' | 'image_bytes' | 'reference_bytes'>;
  image: { path: string; bytes: number };
  reference: { path: string; bytes: number } | null;
}

export interface SidecarClient {
  measure: (call: MeasureCall, signal: AbortSignal) => AsyncGenerator<MeasureEvent>;
  /** What it can run; asked anew now and then. */
  tools: () => Promise<SidecarTools>;
  health: () => Promise<void>;
  close: () => Promise<void>;
}

/** Where the sidecar listens now; null while it is down. It changes when a child is restarted. */
export type SidecarOrigin = () => string | null;

const PROBE_TIMEOUT_MS = 2_000;
const CHUNK_BYTES = 262_144;
const TOOLS_FRESH_MS = 30_000;

export function createSidecarClient(origin: SidecarOrigin): SidecarClient {
  let current: { origin: string; pool: Pool; tools: Promise<SidecarTools> | null; askedAt: number } | null = null;

  const connection = () => {
    const address = origin();
    if (address === null) throw unavailable('it is starting or restarting');
    if (current?.origin !== address) {
      void current?.pool.destroy();
      current = { origin: address, pool: new Pool(address, { connections: 64, headersTimeout: 0, bodyTimeout: 0 }), tools: null, askedAt: 0 };
    }
    return current;
  };

  return {
    measure: (call, signal) => measure(connection().pool, call, signal),
    async tools() {
      const here = connection();
      // A sidecar elsewhere may be replaced by a newer one behind the same address.
      if (here.tools === null || performance.now() - here.askedAt > TOOLS_FRESH_MS) {
        here.tools = getJson(here.pool, '/v1/tools', SidecarTools);
        here.askedAt = performance.now();
      }
      return here.tools.catch((error: unknown) => {
        here.tools = null;
        throw error;
      });
    },
    async health() {
      await getJson(connection().pool, '/v1/health', SidecarHealth);
    },
    async close() {
      await current?.pool.destroy();
    },
  };
}

async function* measure(pool: Pool, call: MeasureCall, signal: AbortSignal): AsyncGenerator<MeasureEvent> {
  const response = await send(pool, call, signal);
  let ended = false;
  try {
    if (response.statusCode !== 200) throw await refusal(response);
    for await (const line of lines(response.body)) {
      const event = parseJson(MeasureEvent, line);
      if (event.event === 'error') throw new IqaError('IQA_TOOL_FAILED', `The sidecar failed: ${event.error.message}`);
      ended = event.event === 'end';
      yield event;
    }
  } catch (error) {
    throw translate(error, signal);
  }
  if (!ended) throw unavailable('its answer was cut off');
}

async function send(pool: Pool, { header, image, reference }: MeasureCall, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  const json = Buffer.from(JSON.stringify({
    contract: CONTRACT_VERSION, ...header, image_bytes: image.bytes, reference_bytes: reference?.bytes ?? 0,
  } satisfies MeasureHeader));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  const contentLength = 4 + json.length + image.bytes + (reference?.bytes ?? 0);
  try {
    return await pool.request({
      method: 'POST', path: '/v1/measure', signal, body: bodyOf(Buffer.concat([length, json]), [image, ...(reference ? [reference] : [])]),
      headers: { 'content-type': MEASURE_MEDIA_TYPE, 'content-length': String(contentLength) },
    });
  } catch (error) {
    throw translate(error, signal);
  }
}

/** Small files go out in one write; large ones are streamed, so that they are never whole in memory. */
function bodyOf(header: Buffer, files: readonly { path: string; bytes: number }[]): Buffer | Readable {
  if (files.every(({ bytes }) => bytes <= CHUNK_BYTES)) return Buffer.concat([header, ...files.map(({ path }) => readFileSync(path))]);
  return Readable.from((async function* () {
    yield header;
    for (const { path } of files) yield* createReadStream(path, { highWaterMark: CHUNK_BYTES });
  })(), { objectMode: false });
}

async function* lines(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    yield* parts.filter((line) => line !== '');
  }
  if (rest !== '') yield rest;
}

async function getJson<S extends TSchema>(pool: Pool, path: string, schema: S): Promise<Static<S>> {
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  try {
    const response = await pool.request({ method: 'GET', path, signal });
    if (response.statusCode !== 200) throw await refusal(response);
    return parse(schema, await response.body.json());
  } catch (error) {
    if (isAbort(error)) throw unavailable('it does not answer in time', error);
    throw translate(error, signal);
  }
}

/** A refusal before the first line. What the user sent was checked by us, so most of these are our own fault. */
async function refusal(response: Dispatcher.ResponseData): Promise<IqaError> {
  const { error } = parse(SidecarFailure, await response.body.json());
  if (response.statusCode === 503) {
    const retryAfter = Number(response.headers['retry-after']) || 1;
    return new IqaError('IQA_BUSY', 'The measuring tools are busy; try again in a moment', { retryAfter });
  }
  if (error.code === 'UNDECODABLE_IMAGE' || error.code === 'UNDECODABLE_REFERENCE') {
    const field = error.code === 'UNDECODABLE_IMAGE' ? 'image' : 'reference';
    return new IqaError('IQA_INPUT_IMAGE', `Expected a complete, undamaged picture for ${field}, but its pixels cannot be decoded`);
  }
  if (error.code === 'TOO_LARGE') return new IqaError('IQA_INPUT_TOO_LARGE', `The picture is larger than the measuring tools take: ${error.message}`);
  return new IqaError('IQA_TOOL_FAILED', `The sidecar refused the call (${error.code}): ${error.message}`);
}

function translate(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof IqaError) return error;
  // An answer that breaks the contract is never the user's fault.
  if (error instanceof ValidationError || error instanceof SyntaxError) {
    return new IqaError('IQA_TOOL_FAILED', `The sidecar does not speak contract ${CONTRACT_VERSION}: ${error.message}`, { cause: error });
  }
  return unavailable('it cannot be reached', error);
}

function unavailable(why: string, cause?: unknown): IqaError {
  return new IqaError('IQA_TOOL_UNAVAILABLE', `The measuring tools are not available: ${why}`, { cause, retryAfter: 1 });
}
