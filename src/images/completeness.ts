// A cheap look at a file's structure: a truncated upload is refused before anything decodes or scores it.
import { open, type FileHandle } from 'node:fs/promises';
import type { ImageFormat } from './sniffing.ts';

/** Whether the file reaches its own end mark. Formats without one are left to the decoder. */
export async function isComplete(path: string, format: ImageFormat): Promise<boolean> {
  const check = CHECKS[format];
  if (!check) return true;
  const file = await open(path, 'r');
  try {
    return await check(file, (await file.stat()).size);
  } finally {
    await file.close();
  }
}

const CHECKS: Partial<Record<ImageFormat, (file: FileHandle, size: number) => Promise<boolean>>> = {
  jpeg: endsWithMarker,
  png: reachesLastChunk,
  webp: fillsItsContainer,
};

/** End-of-image marker, which cameras may follow with a little padding or a trailer. */
async function endsWithMarker(file: FileHandle, size: number): Promise<boolean> {
  const tail = await read(file, Math.max(0, size - 65_536), Math.min(size, 65_536));
  return tail.lastIndexOf(Buffer.from([0xff, 0xd9])) >= 0;
}

async function reachesLastChunk(file: FileHandle, size: number): Promise<boolean> {
  let at = 8;
  while (at + 12 <= size) {
    const head = await read(file, at, 8);
    at += 12 + head.readUInt32BE(0);
    if (head.toString('latin1', 4, 8) === 'IEND') return at <= size;
  }
  return false;
}

async function fillsItsContainer(file: FileHandle, size: number): Promise<boolean> {
  if (size < 12) return false;
  const head = await read(file, 4, 4);
  return head.readUInt32LE(0) + 8 <= size;
}

async function read(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}
