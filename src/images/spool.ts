// Where uploads wait on disk: a private folder of this process, one sub-folder per request, never a whole file in memory.
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
  open: () => Promise<SpoolSession>;
  close: () => Promise<void>;
}

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

async function openSession(spoolDir: string): Promise<SpoolSession> {
  const dir = await mkdtemp(join(spoolDir, 'request-'));
  const reserve = () => {
    const id = randomUUID();
    return { id, path: join(dir, id) };
  };
  return {
    reserve,
    async write(source) {
      const { id, path } = reserve();
      const hash = createHash('sha256');
      let bytes = 0;
      source.on('data', (chunk: Buffer) => {
        hash.update(chunk);
        bytes += chunk.length;
      });
      await pipeline(source, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
      return { id, path, bytes, sha256: hash.digest('hex') };
    },
    close: () => rm(dir, { recursive: true, force: true }),
  };
}
