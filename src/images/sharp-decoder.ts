// Decoding with sharp: reads headers, converts to 8-bit sRGB PNG, and detects damage by decoding to the last row.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import sharp, { type Metadata } from 'sharp';
import { IqaError, getMessage } from '../errors.ts';
import type { SpoolSession } from '../uploads/spool.ts';
import { MalformedFileError } from './containers/container.ts';

export interface Size {
  width: number;
  height: number;
}
interface DecodeSource {
  path: string;
  isJpeg: boolean;
  /** Whether the pixels are already sRGB. */
  ignoreProfile: boolean;
}
interface OutputFile {
  path: string;
  bytes: number;
  sha256: string;
}

// Every upload is a new file, so libvips would never reuse its cache.
sharp.cache(false);

// sharp's pixel limit is off: our own is checked before any decoding and gives a clearer message.
const LENIENT = { failOn: 'error', sequentialRead: true, limitInputPixels: false } as const;
const STRICT = { ...LENIENT, failOn: 'warning' } as const;

export async function readMetadata(path: string, field: string): Promise<Metadata> {
  try {
    return await sharp(path, LENIENT).metadata();
  } catch (error) {
    throw unreadableImageError(field, error);
  }
}

export function encodeAsSrgbPng(
  { path, isJpeg, ignoreProfile }: DecodeSource,
  field: string,
  session: SpoolSession,
  size?: Size,
): Promise<OutputFile> {
  return session.produce((target) =>
    decode(isJpeg, field, async (options) => {
      const image = sharp(path, { ...options, ignoreIcc: ignoreProfile })
        .autoOrient()
        .flatten({ background: 'white' })
        .toColourspace('srgb');
      if (size) image.resize(size.width, size.height, { fit: 'fill', kernel: 'lanczos3' });
      const { size: bytes } = await image.png({ compressionLevel: 1 }).toFile(target);
      return { path: target, bytes, sha256: await hashFile(target) };
    }),
  );
}

/** With sequential reading, extracting the last row decodes the whole file in the memory of one row. */
export function decodeToLastRow(
  { path, isJpeg }: Pick<DecodeSource, 'path' | 'isJpeg'>,
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

/** Refuses damage. libjpeg repairs damage and only warns, so its warnings count, except the benign ones; other decoders fail on damage. */
async function decode<T>(
  isJpeg: boolean,
  field: string,
  work: (options: typeof LENIENT | typeof STRICT) => Promise<T>,
): Promise<T> {
  try {
    return await work(isJpeg ? STRICT : LENIENT).catch((error: unknown) => {
      if (!isJpeg || !isBenign(error)) throw error;
      return work(LENIENT);
    });
  } catch (error) {
    // A full disk is not an input error.
    if (/no space left|quota exceeded/i.test(getMessage(error))) throw error;
    throw unreadableImageError(field, error);
  }
}

/** libjpeg warnings that do not affect the pixels. */
const BENIGN_WARNINGS = [/extraneous bytes before marker/, /unknown JFIF revision/, /unknown Adobe color transform/];
const isBenign = (error: unknown): boolean =>
  getMessage(error)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .every((line) => BENIGN_WARNINGS.some((warning) => warning.test(line)));

export function unreadableImageError(field: string, cause: unknown): IqaError {
  return new IqaError(
    'IQA_INPUT_IMAGE',
    `Expected a complete, undamaged image for ${field}, but ${describeCause(cause)}`,
    { cause },
  );
}

/** Decoder messages may contain the file's path: users get a plain sentence, the log has the original. */
function describeCause(error: unknown): string {
  if (error instanceof MalformedFileError) return error.message;
  const isTruncated = /premature|truncat|end of|bad seek|read error|unable to (read|write)|not enough/i.test(
    getMessage(error),
  );
  return isTruncated ? 'the file is damaged or ends too early' : 'it cannot be decoded';
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
