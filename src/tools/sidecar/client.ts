// The sidecar's HTTP client: frames a call, streams the NDJSON reply, and maps failures to our errors.
import { createReadStream, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { Static, TSchema } from 'typebox';
import { Pool, type Dispatcher } from 'undici';
import {
  CONTRACT_VERSION,
  MEASURE_MEDIA_TYPE,
  MeasureEvent,
  SidecarFailure,
  SidecarHealth,
  SidecarTools,
  type MeasureHeader,
} from '../../../schemas/sidecar.ts';
import { parse, parseJson, ValidationError } from '../../../schemas/validation/model.ts';
import { IqaError, isAbort } from '../../errors.ts';

interface MeasuredFile {
  path: string;
  bytes: number;
  /** Name of the file in the request, for error messages. */
  field: string;
}

export interface MeasureCall {
  header: Omit<MeasureHeader, 'contract' | 'image_bytes' | 'reference_bytes'>;
  image: MeasuredFile;
  reference: MeasuredFile | null;
}

export interface SidecarClient {
  measure: (call: MeasureCall, signal: AbortSignal) => AsyncGenerator<MeasureEvent>;
  /** What it can run; refreshed every 30 s. */
  tools: () => Promise<SidecarTools>;
  health: () => Promise<void>;
  close: () => Promise<void>;
}

/** The sidecar's current address; null while it is down. It changes when the child process is restarted. */
export type SidecarOrigin = () => string | null;

const PROBE_TIMEOUT_MS = 2_000;
const CHUNK_BYTES = 262_144;
const TOOLS_FRESH_MS = 30_000;

export function createSidecarClient(origin: SidecarOrigin): SidecarClient {
  let connection: { origin: string; pool: Pool; tools: Promise<SidecarTools> | null; askedAt: number } | null = null;

  const connect = () => {
    const address = origin();
    if (address === null) throw unavailableError('it is starting or restarting');
    if (connection?.origin !== address) {
      void connection?.pool.destroy();
      connection = {
        origin: address,
        pool: new Pool(address, { connections: 64, headersTimeout: 0, bodyTimeout: 0 }),
        tools: null,
        askedAt: 0,
      };
    }
    return connection;
  };

  return {
    measure: (call, signal) => measure(connect().pool, call, signal),
    async tools() {
      const active = connect();
      // A remote sidecar may be upgraded behind the same address.
      if (active.tools === null || performance.now() - active.askedAt > TOOLS_FRESH_MS) {
        active.tools = getJson(active.pool, '/v1/tools', SidecarTools);
        active.askedAt = performance.now();
      }
      return active.tools.catch((error: unknown) => {
        active.tools = null;
        throw error;
      });
    },
    async health() {
      await getJson(connect().pool, '/v1/health', SidecarHealth);
    },
    async close() {
      await connection?.pool.destroy();
    },
  };
}

async function* measure(pool: Pool, call: MeasureCall, signal: AbortSignal): AsyncGenerator<MeasureEvent> {
  const response = await send(pool, call, signal);
  let ended = false;
  try {
    if (response.statusCode !== 200) throw await readFailure(response, call);
    for await (const line of readLines(response.body)) {
      const event = parseJson(MeasureEvent, line);
      if (event.event === 'error') throw new IqaError('IQA_TOOL_FAILED', `The sidecar failed: ${event.error.message}`);
      ended = event.event === 'end';
      yield event;
    }
  } catch (error) {
    throw translateError(error, signal);
  }
  if (!ended) throw unavailableError('its reply was cut off');
}

async function send(
  pool: Pool,
  { header, image, reference }: MeasureCall,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const json = Buffer.from(
    JSON.stringify({
      contract: CONTRACT_VERSION,
      ...header,
      image_bytes: image.bytes,
      reference_bytes: reference?.bytes ?? 0,
    } satisfies MeasureHeader),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  const contentLength = 4 + json.length + image.bytes + (reference?.bytes ?? 0);
  try {
    return await pool.request({
      method: 'POST',
      path: '/v1/measure',
      signal,
      body: buildBody(Buffer.concat([length, json]), [image, ...(reference ? [reference] : [])]),
      headers: { 'content-type': MEASURE_MEDIA_TYPE, 'content-length': String(contentLength) },
    });
  } catch (error) {
    throw translateError(error, signal);
  }
}

/** Small files are sent in one write; large ones are streamed, so that they are never fully in memory. */
function buildBody(header: Buffer, files: readonly { path: string; bytes: number }[]): Buffer | Readable {
  if (files.every(({ bytes }) => bytes <= CHUNK_BYTES))
    return Buffer.concat([header, ...files.map(({ path }) => readFileSync(path))]);
  return Readable.from(
    (async function* () {
      yield header;
      for (const { path } of files) yield* createReadStream(path, { highWaterMark: CHUNK_BYTES });
    })(),
    { objectMode: false },
  );
}

async function* readLines(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
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
    if (response.statusCode !== 200) throw await readFailure(response);
    return parse(schema, await response.body.json());
  } catch (error) {
    if (isAbort(error)) throw unavailableError('it did not answer in time', error);
    throw translateError(error, signal);
  }
}

/** An error status before the first line. Uploads were validated before, so most of these are bugs of the service. */
async function readFailure(response: Dispatcher.ResponseData, call?: MeasureCall): Promise<IqaError> {
  const { error } = parse(SidecarFailure, await response.body.json());
  if (response.statusCode === 503) {
    const retryAfter = Number(response.headers['retry-after']) || 1;
    return new IqaError('IQA_BUSY', 'The measuring tools are busy; try again in a moment', { retryAfter });
  }
  if (error.code === 'UNDECODABLE_IMAGE' || error.code === 'UNDECODABLE_REFERENCE') {
    const field = error.code === 'UNDECODABLE_IMAGE' ? (call?.image.field ?? 'image') : 'reference';
    return new IqaError(
      'IQA_INPUT_IMAGE',
      `Expected a complete, undamaged image for ${field}, but its pixels cannot be decoded`,
    );
  }
  if (error.code === 'TOO_LARGE')
    return new IqaError('IQA_INPUT_TOO_LARGE', `The image is larger than the measuring tools accept: ${error.message}`);
  return new IqaError('IQA_TOOL_FAILED', `The sidecar refused the call (${error.code}): ${error.message}`);
}

function translateError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof IqaError) return error;
  // A reply that violates the contract is never an input error.
  if (error instanceof ValidationError || error instanceof SyntaxError) {
    return new IqaError('IQA_TOOL_FAILED', `The sidecar violates contract ${CONTRACT_VERSION}: ${error.message}`, {
      cause: error,
    });
  }
  return unavailableError('it cannot be reached', error);
}

function unavailableError(why: string, cause?: unknown): IqaError {
  return new IqaError('IQA_TOOL_UNAVAILABLE', `The measuring tools are not available: ${why}`, {
    cause,
    retryAfter: 1,
  });
}
