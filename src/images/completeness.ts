// A look at a file's structure: a truncated upload is refused before anything decodes or scores it.
import type { ImageFormat } from './sniffing.ts';
import type { SpooledFile } from './spool.ts';

type Ends = Pick<SpooledFile, 'bytes' | 'head' | 'tail'>;

/** Whether the file reaches its own end mark. JPEG, which phones follow with whole films, and the rest are left to the decoder. */
export function isComplete(file: Ends, format: ImageFormat): boolean {
  return CHECKS[format]?.(file) ?? true;
}

const CHECKS: Partial<Record<ImageFormat, (file: Ends) => boolean>> = {
  // The last chunk is empty and has a fixed check sum.
  png: ({ tail }) => tail.includes(Buffer.from('0000000049454e44ae426082', 'hex')),
  // The container says how long it is.
  webp: ({ head, bytes }) => bytes >= 12 && head.readUInt32LE(4) + 8 <= bytes,
};
