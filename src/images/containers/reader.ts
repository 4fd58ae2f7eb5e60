// Random access to a spooled file through a small window; small files are served from the head kept in memory.
import { open, type FileHandle } from 'node:fs/promises';
import type { SpooledFile } from '../../uploads/spool.ts';

const WINDOW_BYTES = 262_144;

export interface FileReader {
  bytes: number;
  /** Up to `length` bytes from `position`; fewer at the end of the file. */
  read: (position: number, length: number) => Promise<Buffer>;
}

export async function withReader<T>(
  file: Pick<SpooledFile, 'path' | 'bytes' | 'head'>,
  work: (reader: FileReader) => Promise<T>,
): Promise<T> {
  let handle: FileHandle | null = null;
  let window = { start: 0, data: file.head };
  async function read(position: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, file.bytes - position));
    if (position < window.start || position + wanted > window.start + window.data.length) {
      handle ??= await open(file.path, 'r');
      const data = Buffer.alloc(Math.max(wanted, Math.min(WINDOW_BYTES, file.bytes - position)));
      const { bytesRead } = await handle.read(data, 0, data.length, position);
      window = { start: position, data: data.subarray(0, bytesRead) };
    }
    const from = position - window.start;
    return window.data.subarray(from, from + wanted);
  }
  try {
    return await work({ bytes: file.bytes, read });
  } finally {
    await (handle as FileHandle | null)?.close();
  }
}
