// Where uploads wait on disk: a private folder of this process, unguessable names, never a whole file in memory.
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

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
  /** A path for a file that somebody else writes, such as a normalised picture. */
  reserve: () => { id: string; path: string };
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
  await mkdir(base, { recursive: true });
  const dir = await mkdtemp(join(base, `agentic-iqa-${process.pid}-`));
  return {
    dir,
    open: () => openSession(dir),
    close: () => rm(dir, { recursive: true, force: true }),
  };
}

function openSession(dir: string): SpoolSession {
  const paths: string[] = [];
  const reserve = () => {
    const id = randomUUID();
    const path = join(dir, id);
    paths.push(path);
    return { id, path };
  };
  return {
    reserve,
    async write(source) {
      const { id, path } = reserve();
      const hash = createHash('sha256');
      let bytes = 0;
      let head: Buffer = Buffer.alloc(0);
      let tail: Buffer = Buffer.alloc(0);
      source.on('data', (chunk: Buffer) => {
        hash.update(chunk);
        bytes += chunk.length;
        if (head.length < KEPT_BYTES) head = Buffer.concat([head, chunk.subarray(0, KEPT_BYTES - head.length)]);
        tail = chunk.length >= KEPT_BYTES ? chunk.subarray(-KEPT_BYTES) : Buffer.concat([tail, chunk]).subarray(-KEPT_BYTES);
      });
      await pipeline(source, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
      return { id, path, bytes, sha256: hash.digest('hex'), head, tail };
    },
    async close() {
      await Promise.all(paths.map((path) => rm(path, { force: true })));
    },
  };
}
