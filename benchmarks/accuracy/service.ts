// Starts the whole service with its sidecar and one fold's models, and asks it over HTTP.
import { spawn } from 'node:child_process';
import { existsSync, openAsBlob } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Assessment } from '../../schemas/responses/assessment.ts';
import type { Comparison } from '../../schemas/responses/comparison.ts';
import { projectRoot } from '../../src/config/config.ts';

export interface Question {
  query?: string;
  choices?: readonly string[];
}

export interface BenchService {
  assess: (image: string, reference: string | null, question?: Question) => Promise<Assessment>;
  compare: (images: readonly string[], reference: string | null) => Promise<Comparison>;
  stop: () => Promise<void>;
}

export interface ServiceOptions {
  modelsFolder: string | null;
  licences: string;
  /** Runs the TypeScript sources instead of the build. */
  fromSource: boolean;
}

const START_TIMEOUT_MS = 180_000;

export async function startBenchService({ modelsFolder, licences, fromSource }: ServiceOptions): Promise<BenchService> {
  const root = projectRoot();
  const built = join(root, 'dist/src/server.js');
  const program = fromSource || !existsSync(built) ? ['--import=ts-blank-space/register', 'src/server.ts'] : [built];
  const child = spawn(process.execPath, program, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    // A key in the environment must not let a model answer: the default is measured.
    env: {
      ...process.env,
      IQA_PORT: '0',
      IQA_BACKEND: 'embedded',
      SIDECAR_URL: '',
      IQA_LICENCES: licences,
      ...(modelsFolder === null ? {} : { IQA_MODELS_DIR: modelsFolder }),
    },
  });
  const exited = new Promise<void>((resolve) =>
    child.on('exit', () => {
      resolve();
    }),
  );
  let address: string | null = null;
  createInterface(child.stdout).on('line', (line) => {
    if (address === null && line.includes('"address"'))
      address = (JSON.parse(line) as { address?: string }).address ?? null;
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  const isReady = async () => address !== null && (await fetch(`${address}/ready`).catch(() => null))?.status === 200;
  const end = performance.now() + START_TIMEOUT_MS;
  while (!(await isReady())) {
    if (performance.now() > end || child.exitCode !== null) {
      await stop();
      throw new Error('Expected the service to become ready');
    }
    await delay(100);
  }
  const post = async <T>(path: string, form: FormData): Promise<T> => {
    const response = await fetch(`${address ?? ''}${path}`, { method: 'POST', body: form });
    if (response.status !== 200)
      throw new Error(`Expected 200 from ${path} but received ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  return {
    async assess(image, reference, { query, choices } = {}) {
      const form = await buildForm({ image: [image], reference: reference === null ? [] : [reference] });
      if (query !== undefined) form.append('query', query);
      if (choices) form.append('choices', JSON.stringify(choices));
      return post<Assessment>('/assess', form);
    },
    compare: async (images, reference) =>
      post<Comparison>('/compare', await buildForm({ images, reference: reference === null ? [] : [reference] })),
    stop,
  };
}

async function buildForm(files: Record<string, readonly string[]>): Promise<FormData> {
  const form = new FormData();
  for (const [field, paths] of Object.entries(files)) {
    for (const path of paths) form.append(field, await openAsBlob(path), basename(path));
  }
  return form;
}

/** Runs at most `concurrency` at a time; results keep the order of the items. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index]!, index);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return results;
}
