// Uploads on disk: a private folder of this process with unguessable names; files are streamed, never held in memory as a whole.
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm, unlink } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ensureConfiguredDirectory } from '../lib/ensure-directory.ts';
import { isProcessAlive } from '../lib/is-process-alive.ts';

export interface SpooledFile {
  /** Name of the file within the spool; unguessable. */
  id: string;
  path: string;
  bytes: number;
  sha256: string;
  /** The first and the last bytes, kept during the upload: enough to detect format and truncation without reading the file. */
  head: Buffer;
  tail: Buffer;
}

/** The files of one request. `close` removes them. */
export interface SpoolSession {
  write: (source: Readable) => Promise<SpooledFile>;
  /** Provides the path for a file that the work writes, such as a re-encoded image. */
  produce: <T>(work: (path: string) => Promise<T>) => Promise<T>;
  /** Keeps the files until the work is done, even if the session is closed earlier. */
  hold: <T>(work: () => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
}

export interface Spool {
  dir: string;
  open: () => SpoolSession;
  close: () => Promise<void>;
}

export const EDGE_BYTES = 65_536;

export async function createSpool(parent: string | null): Promise<Spool> {
  const base = parent ?? tmpdir();
  await ensureConfiguredDirectory(base, 'IQA_SPOOL_DIR', 0o777);
  await removeStaleFolders(base);
  const dir = await mkdtemp(join(base, `${PREFIX}${process.pid}-`));
  return { dir, open: () => openSession(dir), close: () => rm(dir, { recursive: true, force: true }) };
}

// Process ids are only unique on one host, and containers may share the folder.
const PREFIX = `agentic-iqa-${hostname().replaceAll(/[^\w.]/g, '_')}-`;

/** Removes the folders of killed processes: they hold users' images. */
async function removeStaleFolders(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : NaN;
    if (Number.isInteger(pid) && !isProcessAlive(pid)) await rm(join(base, name), { recursive: true, force: true });
  }
}

function openSession(dir: string): SpoolSession {
  const paths: string[] = [];
  let closed = false;
  let holders = 0;
  // Unlike rm, unlink does not stat the path first.
  const remove = (path: string) =>
    unlink(path).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  const removeAll = async () => {
    await Promise.all(paths.map(remove));
  };
  const isFinished = () => closed && holders === 0;

  async function produce<T>(work: (path: string) => Promise<T>, path = join(dir, randomUUID())): Promise<T> {
    paths.push(path);
    try {
      return await work(path);
    } finally {
      // The session may have been closed while the file was written.
      if (isFinished()) await remove(path);
    }
  }

  return {
    produce: (work) => produce(work),
    write(source) {
      const id = randomUUID();
      return produce(async (path) => ({ id, path, ...(await writeFile(source, path)) }), join(dir, id));
    },
    async hold(work) {
      holders += 1;
      try {
        return await work();
      } finally {
        holders -= 1;
        if (isFinished()) await removeAll();
      }
    },
    async close() {
      closed = true;
      if (isFinished()) await removeAll();
    },
  };
}

async function writeFile(
  source: Readable,
  path: string,
): Promise<Pick<SpooledFile, 'bytes' | 'sha256' | 'head' | 'tail'>> {
  const hash = createHash('sha256');
  let bytes = 0;
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);
  source.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
    if (head.length < EDGE_BYTES) head = Buffer.concat([head, chunk.subarray(0, EDGE_BYTES - head.length)]);
    tail =
      chunk.length >= EDGE_BYTES ? chunk.subarray(-EDGE_BYTES) : Buffer.concat([tail, chunk]).subarray(-EDGE_BYTES);
  });
  await pipeline(source, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  return { bytes, sha256: hash.digest('hex'), head, tail };
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';
