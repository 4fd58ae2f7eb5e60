// sharp's side of decoding: reads headers, makes plain 8-bit sRGB PNG of what is not, and finds damage by decoding to the last row.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import sharp, { type Metadata } from 'sharp';
import { IqaError, messageOf } from '../errors.ts';
import type { SpoolSession } from '../uploads/spool.ts';
import { StructureError } from './containers/container.ts';

export interface Size {
  width: number;
  height: number;
}
/** `ignoreProfile`: the pixels are sRGB as they stand. */
export interface Source {
  path: string;
  isJpeg: boolean;
  ignoreProfile: boolean;
}
export interface Produced {
  path: string;
  bytes: number;
  sha256: string;
}

// Every upload is another file: what libvips kept of the last ones would never be used again.
sharp.cache(false);

// No pixel limit of sharp's: headers are read in any case, and our own limit, checked before any decoding, gives a better sentence.
const LENIENT = { failOn: 'error', sequentialRead: true, limitInputPixels: false } as const;
const STRICT = { ...LENIENT, failOn: 'warning' } as const;

export async function readMetadata(path: string, field: string): Promise<Metadata> {
  try {
    return await sharp(path, LENIENT).metadata();
  } catch (error) {
    throw unreadable(field, error);
  }
}

export function normalise(
  { path, isJpeg, ignoreProfile }: Source,
  field: string,
  session: SpoolSession,
  size?: Size,
): Promise<Produced> {
  return session.produce((target) =>
    decode(isJpeg, field, async (options) => {
      const picture = sharp(path, { ...options, ignoreIcc: ignoreProfile })
        .autoOrient()
        .flatten({ background: 'white' })
        .toColourspace('srgb');
      if (size) picture.resize(size.width, size.height, { fit: 'fill', kernel: 'lanczos3' });
      const { size: bytes } = await picture.png({ compressionLevel: 1 }).toFile(target);
      return { path: target, bytes, sha256: await sha256Of(target) };
    }),
  );
}

/** Reading rows in order, the last one is reached only through all others: a whole decode in the memory of one row. */
export function decodeToLastRow(
  { path, isJpeg }: Pick<Source, 'path' | 'isJpeg'>,
  field: string,
  { width, height }: Size,
): Promise<void> {
  return decode(isJpeg, field, async (options) => {
    await sharp(path, options)
      .extract({ left: 0, top: height - 1, width, height: 1 })
      .raw()
      .toBuffer();
  });
}

/**
 * Damage is refused; mere oddities, which many cameras and programs write, are not. libjpeg repairs damage and only warns of it; the other
 * decoders fail on damage, and warn of what does no harm.
 */
async function decode<T>(
  isJpeg: boolean,
  field: string,
  work: (options: typeof LENIENT | typeof STRICT) => Promise<T>,
): Promise<T> {
  try {
    return await work(isJpeg ? STRICT : LENIENT).catch((error: unknown) => {
      if (!isJpeg || !isOddity(error)) throw error;
      return work(LENIENT);
    });
  } catch (error) {
    // A full disk is not the sender's fault.
    if (/no space left|quota exceeded/i.test(messageOf(error))) throw error;
    throw unreadable(field, error);
  }
}

/** libjpeg's warnings that leave the pixels as they were meant. */
const ODDITIES = [/extraneous bytes before marker/, /unknown JFIF revision/, /unknown Adobe color transform/];
const linesOf = (error: unknown): string[] =>
  messageOf(error)
    .split('\n')
    .filter((line) => line.trim() !== '');
const isOddity = (error: unknown): boolean =>
  linesOf(error).every((line) => ODDITIES.some((oddity) => oddity.test(line)));

export function unreadable(field: string, cause: unknown): IqaError {
  return new IqaError('IQA_INPUT_IMAGE', `Expected a complete, undamaged picture for ${field}, but ${explain(cause)}`, {
    cause,
  });
}

// Decoders speak of their own insides, and sometimes name the file: the user is told what it means, the log has their words.
function explain(error: unknown): string {
  if (error instanceof StructureError) return error.message;
  const early = /premature|truncat|end of|bad seek|read error|unable to (read|write)|not enough/i.test(
    messageOf(error),
  );
  return early ? 'the file is damaged or ends too early' : 'it cannot be decoded';
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
