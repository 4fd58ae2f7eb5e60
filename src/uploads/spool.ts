// Where uploads wait on disk: a private folder of this process, unguessable names, never a whole file in memory.
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm, unlink } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { makeConfiguredFolder } from '../lib/ensure-directory.ts';
import { isRunning } from '../lib/is-process-alive.ts';

export interface SpooledFile {
  /** Name of the file within the spool; unguessable. */
  id: string;
  path: string;
  bytes: number;
  sha256: string;
  /** The first and the last bytes, kept while they passed by: enough to tell format and completeness without reading again. */
  head: Buffer;
  tail: Buffer;
}

/** The files of one request. Closing it removes them. */
export interface SpoolSession {
  write: (source: Readable) => Promise<SpooledFile>;
  /** Gives a path to somebody who writes a file there, such as a normalised picture. */
  produce: <T>(work: (path: string) => Promise<T>) => Promise<T>;
  /** Keeps the files until the work is done, also when the session is closed before. */
  hold: <T>(work: () => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
}

export interface Spool {
  dir: string;
  open: () => SpoolSession;
  close: () => Promise<void>;
}

export const KEPT_BYTES = 65_536;

export async function createSpool(parent: string | null): Promise<Spool> {
  const base = parent ?? tmpdir();
  await makeConfiguredFolder(base, 'IQA_SPOOL_DIR', 0o777);
  await sweep(base);
  const dir = await mkdtemp(join(base, `${PREFIX}${process.pid}-`));
  return { dir, open: () => openSession(dir), close: () => rm(dir, { recursive: true, force: true }) };
}

// The host's name: process ids mean nothing beyond it, and containers may share a folder.
const PREFIX = `agentic-iqa-${hostname().replaceAll(/[^\w.]/g, '_')}-`;

/** Removes what killed processes left behind: it is users' pictures. */
async function sweep(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : NaN;
    if (Number.isInteger(pid) && !isRunning(pid)) await rm(join(base, name), { recursive: true, force: true });
  }
}

function openSession(dir: string): SpoolSession {
  const paths: string[] = [];
  let closed = false;
  let holders = 0;
  // Not rm, which looks at each path first.
  const remove = (path: string) =>
    unlink(path).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  const removeAll = async () => {
    await Promise.all(paths.map(remove));
  };
  const isOver = () => closed && holders === 0;

  async function produce<T>(work: (path: string) => Promise<T>, path = join(dir, randomUUID())): Promise<T> {
    paths.push(path);
    try {
      return await work(path);
    } finally {
      // The client may have gone while the file was being written: then nobody else will remove it.
      if (isOver()) await remove(path);
    }
  }

  return {
    produce: (work) => produce(work),
    write(source) {
      const id = randomUUID();
      return produce(async (path) => ({ id, path, ...(await store(source, path)) }), join(dir, id));
    },
    async hold(work) {
      holders += 1;
      try {
        return await work();
      } finally {
        holders -= 1;
        if (isOver()) await removeAll();
      }
    },
    async close() {
      closed = true;
      if (isOver()) await removeAll();
    },
  };
}

async function store(source: Readable, path: string): Promise<Pick<SpooledFile, 'bytes' | 'sha256' | 'head' | 'tail'>> {
  const hash = createHash('sha256');
  let bytes = 0;
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);
  source.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
    if (head.length < KEPT_BYTES) head = Buffer.concat([head, chunk.subarray(0, KEPT_BYTES - head.length)]);
    tail =
      chunk.length >= KEPT_BYTES ? chunk.subarray(-KEPT_BYTES) : Buffer.concat([tail, chunk]).subarray(-KEPT_BYTES);
  });
  await pipeline(source, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  return { bytes, sha256: hash.digest('hex'), head, tail };
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';
