// A provider double: a real HTTP server that speaks the wires of OpenAI, Anthropic and Google, plays a script, and fails on what a provider would refuse.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import sharp from 'sharp';
import type { Test } from 'tap';
import { readAnthropic, writeAnthropic } from './wire-anthropic.ts';
import { readGoogle, writeGoogle } from './wire-google.ts';
import { readOpenAi, writeOpenAi } from './wire-openai.ts';

export const KEYS = {
  openai: 'sk-double-openai-0123456789',
  anthropic: 'sk-ant-double-0123456789',
  google: 'AIzaDouble0123456789abcdef',
} as const;
export type Wire = keyof typeof KEYS;

/** A request as all three wires mean it. */
export interface SeenRequest {
  wire: Wire;
  model: string;
  system: string;
  /** The text of each turn, images' labels included. */
  turns: { role: 'user' | 'assistant'; text: string }[];
  images: { mediaType: string; data: Buffer }[];
  schema: JsonSchema | null;
  temperature: number | undefined;
  topP: number | undefined;
  maxTokens: number | undefined;
  logprobs: number;
}

export interface JsonSchema {
  type?: string;
  enum?: string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
}

/** What the double says: text, or an object that becomes JSON. */
export interface Speech {
  text: string;
  /** Probabilities of the five level words at the place of final_answer. */
  levels?: Record<string, number>;
  finish?: 'complete' | 'length' | 'refusal' | 'empty';
  usage?: { input: number; output: number };
}

export type Step =
  | { say: unknown; levels?: Record<string, number>; after?: number }
  | { speech: Speech }
  | { fail: number; body?: unknown; headers?: Record<string, string> }
  | { raw: string; contentType: string }
  | { misbehave: 'hang_up' | 'never' | 'slow_bytes' | 'huge' }
  | ((request: SeenRequest) => Step | Promise<Step>);

export interface ProviderDouble {
  url: string;
  /** Keys and addresses as the service's environment has them, for these providers. */
  environment: (...wires: Wire[]) => Record<string, string>;
  seen: SeenRequest[];
  /** Adds steps; each request takes the next one. */
  play: (...steps: Step[]) => void;
  /** Answers everything beyond the script. */
  otherwise: (step: Step) => void;
}

export async function startProviderDouble(t: Pick<Test, 'teardown'>): Promise<ProviderDouble> {
  const steps: Step[] = [];
  const seen: SeenRequest[] = [];
  const complaints: string[] = [];
  let rest: Step | null = null;
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      complaints.push(String(error));
      response.destroy();
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const arrived = performance.now();
    const wire = wireOf(request.url ?? '');
    try {
      const read = READERS[wire](request, JSON.parse(body) as never);
      for (const { data, mediaType } of read.images) await checkImage(data, mediaType);
      if (read.schema) checkSchema(read.schema, '');
      seen.push(read);
      const step = steps.shift() ?? rest;
      if (!step)
        throw new Error(
          `the script has no step for request ${seen.length}: ${read.turns.at(-1)?.text.slice(0, 200) ?? ''}`,
        );
      await play(step, read, response, arrived);
    } catch (error) {
      // What a provider would refuse, it refuses; the test fails at its end as well.
      complaints.push(error instanceof Error ? error.message : String(error));
      send(response, 400, {
        error: { message: `the double refuses: ${String(error)}`, type: 'invalid_request_error' },
      });
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    // tap takes no assertions here any more, but an error fails the test.
    if (complaints.length > 0) throw new Error(`The provider double complains: ${complaints.join('; ')}`);
    if (steps.length > 0)
      throw new Error(`The provider double was not asked often enough: ${steps.length} steps are left`);
  });
  return {
    url,
    seen,
    environment: (...wires) => Object.assign({}, ...wires.map((wire) => SETTINGS[wire](url))) as Record<string, string>,
    play: (...added) => {
      steps.push(...added);
    },
    otherwise: (step) => {
      rest = step;
    },
  };
}

const SETTINGS: Record<Wire, (url: string) => Record<string, string>> = {
  openai: (url) => ({ OPENAI_API_KEY: KEYS.openai, OPENAI_BASE_URL: `${url}/v1` }),
  anthropic: (url) => ({ ANTHROPIC_API_KEY: KEYS.anthropic, ANTHROPIC_BASE_URL: url }),
  google: (url) => ({ GOOGLE_API_KEY: KEYS.google, GOOGLE_API_BASE_URL: url }),
};
const READERS = { openai: readOpenAi, anthropic: readAnthropic, google: readGoogle };
const WRITERS = { openai: writeOpenAi, anthropic: writeAnthropic, google: writeGoogle };

function wireOf(path: string): Wire {
  if (path.endsWith('/chat/completions')) return 'openai';
  if (path.endsWith('/v1/messages')) return 'anthropic';
  if (path.includes(':generateContent')) return 'google';
  throw new Error(`no provider has the path ${path}`);
}

async function play(step: Step, request: SeenRequest, response: ServerResponse, arrived: number): Promise<void> {
  if (typeof step === 'function') return play(await step(request), request, response, arrived);
  if ('say' in step) {
    // From the arrival: what the double checks before is no part of the provider's time.
    if (step.after) await delay(Math.max(0, step.after - (performance.now() - arrived)));
    const text = typeof step.say === 'string' ? step.say : JSON.stringify(step.say);
    send(response, 200, WRITERS[request.wire](request, { text, ...(step.levels ? { levels: step.levels } : {}) }));
    return;
  }
  if ('speech' in step) {
    send(response, 200, WRITERS[request.wire](request, step.speech));
    return;
  }
  if ('fail' in step) {
    send(
      response,
      step.fail,
      step.body ?? { error: { message: `scripted ${step.fail}`, type: 'scripted' } },
      step.headers,
    );
    return;
  }
  if ('misbehave' in step) return misbehave(step.misbehave, response);
  response.writeHead(200, { 'content-type': step.contentType }).end(step.raw);
}

async function misbehave(how: 'hang_up' | 'never' | 'slow_bytes' | 'huge', response: ServerResponse): Promise<void> {
  if (how === 'never') return;
  if (how === 'hang_up') {
    response.destroy();
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  if (how === 'huge') {
    const chunk = `"${'x'.repeat(1_000_000)}",`;
    response.write('{"choices":[');
    for (let sent = 0; sent < 50 && !response.destroyed; sent += 1) {
      if (!response.write(chunk))
        await new Promise<void>((resolve) => {
          response.once('drain', resolve).once('close', resolve);
        });
    }
    response.end('""]}');
    return;
  }
  while (!response.destroyed) {
    response.write(' ');
    await delay(20);
  }
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Images must be what they say they are, down to the last pixel. */
async function checkImage(data: Buffer, mediaType: string): Promise<void> {
  const { info } = await sharp(data, { failOn: 'warning' }).raw().toBuffer({ resolveWithObject: true });
  const { format } = await sharp(data).metadata();
  if (`image/${format}` !== mediaType) throw new Error(`Expected ${mediaType} but received ${format}`);
  if (info.width * info.height === 0) throw new Error('Expected pixels');
}

/** The rules of strict JSON schemas: every property required, nothing beyond them, a type everywhere, no keyword that is refused. */
function checkSchema(node: JsonSchema, path: string): void {
  const allowed = [
    'type',
    'enum',
    'const',
    'description',
    'properties',
    'required',
    'additionalProperties',
    'items',
    'anyOf',
  ];
  for (const key of Object.keys(node))
    if (!allowed.includes(key)) throw new Error(`${key} at ${path || 'the root'} is not part of strict schemas`);
  if (!node.type && !node.anyOf) throw new Error(`no type at ${path || 'the root'}`);
  if (node.type === 'object') {
    const names = Object.keys(node.properties ?? {});
    if (node.additionalProperties !== false)
      throw new Error(`additionalProperties at ${path || 'the root'} is not false`);
    if (JSON.stringify(node.required) !== JSON.stringify(names))
      throw new Error(`not every property at ${path || 'the root'} is required`);
  }
  for (const [name, child] of Object.entries(node.properties ?? {})) checkSchema(child, `${path}/${name}`);
  if (node.items) checkSchema(node.items, `${path}/items`);
  for (const branch of node.anyOf ?? []) checkSchema(branch, `${path}/anyOf`);
}
