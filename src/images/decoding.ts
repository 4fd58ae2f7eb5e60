// The decoding policy: which files go to the sidecar as they are, and how all others become plain 8-bit sRGB first.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import sharp, { type Metadata } from 'sharp';
import type { ImageInfo } from '../../schemas/assessment.ts';
import { IqaError, messageOf } from '../errors.ts';
import { isComplete } from './completeness.ts';
import { readJpegQuality } from './jpeg-quality.ts';
import { ACCEPTED_FORMATS, sniff, type ImageFormat } from './sniffing.ts';
import type { SpooledFile, SpoolSession } from './spool.ts';

/** Damage is refused; mere oddities, such as a stray byte before a marker, which many cameras write, are not. */
const DECODER = { failOn: 'error', sequentialRead: true } as const;

/** A picture ready for measuring: the handle that travels, never the pixels. */
export interface PreparedImage {
  info: ImageInfo;
  /** The file that the sidecar receives. */
  path: string;
  bytes: number;
  /** Of that file: part of every cache key. */
  sha256: string;
  /** Of the original, when the file was re-encoded and its tables are gone. */
  jpegQuality: number | null;
  /** Decodes the whole file, once however often asked; rejects when the pixels are damaged. Runs beside the measuring. */
  verify: () => Promise<void>;
}

export interface DecodingLimits {
  maxPixels: number;
}

export async function prepareImage(file: SpooledFile, field: string, session: SpoolSession, limits: DecodingLimits): Promise<PreparedImage> {
  const format = identify(file, field);
  if (!isComplete(file, format)) throw unreadable(field, 'the file ends before the picture does');
  const metadata = await readMetadata(file, field);
  const { width, height } = uprightSize(metadata);
  if (width * height > limits.maxPixels) {
    throw new IqaError('IQA_INPUT_TOO_LARGE', `Expected at most ${megapixels(limits.maxPixels)} megapixels for ${field} but received ${width} × ${height} (${megapixels(width * height)} megapixels)`);
  }
  const notes = deviations(metadata, format);
  const info = { sha256: file.sha256, width, height, format, bytes: file.bytes, notes: notes.map((note) => note.text) };
  if (!notes.some((note) => note.reencode)) {
    const { path, bytes, sha256 } = file;
    return { info, path, bytes, sha256, jpegQuality: null, verify: once(() => decodeToLastRow(path, field, { width, height })) };
  }
  const jpegQuality = format === 'jpeg' ? readJpegQuality(file.head) : null;
  const normalised = await normalise(file.path, field, session);
  return { info, ...normalised, jpegQuality, verify: () => Promise.resolve() };
}

/** A prepared picture of an earlier process; its pixels are verified anew. The file's own size counts: a reference may have been resized. */
export function restoreImage(stored: Omit<PreparedImage, 'verify'>, field: string): PreparedImage {
  return { ...stored, verify: once(async () => decodeToLastRow(stored.path, field, await readMetadata(stored, field))) };
}

/** Brings a reference to the size of the image; flagged in its notes. */
export async function resizeTo(image: PreparedImage, size: { width: number; height: number }, session: SpoolSession): Promise<PreparedImage> {
  const target = await normalise(image.path, 'reference', session, size);
  const note = `resized from ${image.info.width} × ${image.info.height} to ${size.width} × ${size.height} to match the image`;
  return { ...image, ...target, info: { ...image.info, notes: [...image.info.notes, note] } };
}

function identify(file: SpooledFile, field: string): ImageFormat {
  if (file.bytes === 0) throw unreadable(field, 'the file is empty');
  const sniffed = sniff(file.head);
  if (sniffed && 'format' in sniffed) return sniffed.format;
  const accepted = ACCEPTED_FORMATS.map((format) => format.toUpperCase()).join(', ');
  if (sniffed) throw new IqaError('IQA_INPUT_MEDIA_TYPE', `Expected ${accepted} for ${field} but received ${sniffed.refused}. ${sniffed.advice}.`);
  throw unreadable(field, `its first bytes are those of no known image format (accepted: ${accepted})`);
}

async function readMetadata(file: Pick<SpooledFile, 'path'>, field: string): Promise<Metadata> {
  try {
    // No pixel limit here: metadata reads the header only, and our own limit gives a better sentence.
    return await sharp(file.path, { limitInputPixels: false }).metadata();
  } catch (error) {
    throw unreadable(field, explainDecoder(error), error);
  }
}

interface Deviation { text: string; reencode: boolean }

/** What keeps a file from being plain 8-bit sRGB; each deviation is told to the user. */
function deviations(metadata: Metadata, format: ImageFormat): Deviation[] {
  const found: Deviation[] = [];
  const add = (text: string, reencode = true) => found.push({ text, reencode });
  if (!['jpeg', 'png', 'webp'].includes(format)) add(`decoded from ${format.toUpperCase()}`);
  if ((metadata.orientation ?? 1) > 1) add(`turned upright (EXIF orientation ${metadata.orientation ?? 1})`);
  if (metadata.icc && !describesSrgb(metadata.icc)) add('converted from the embedded colour profile to sRGB');
  if (metadata.space === 'cmyk') add('converted from CMYK to sRGB');
  if (metadata.hasAlpha) add('alpha channel laid over white');
  if (metadata.depth !== 'uchar') add('reduced to 8 bits a channel');
  if ((metadata.pages ?? 1) > 1) add(`first of ${metadata.pages ?? 1} frames`);
  if (metadata.space === 'b-w') add('grey: measured with three equal channels', false);
  return found;
}

/** Profile descriptions are ASCII (ICC v2) or UTF-16 (v4); both spell the name out. */
const describesSrgb = (icc: Buffer): boolean => /sRGB/i.test(icc.toString('latin1').replaceAll('\0', ''));

function uprightSize(metadata: Metadata): { width: number; height: number } {
  const turned = (metadata.orientation ?? 1) >= 5;
  const width = metadata.width;
  const height = metadata.pageHeight ?? metadata.height;
  return turned ? { width: height, height: width } : { width, height };
}

function normalise(path: string, field: string, session: SpoolSession, size?: { width: number; height: number }) {
  return session.produce(async (target) => {
    try {
      const picture = sharp(path, { ...DECODER, limitInputPixels: false }).autoOrient().flatten({ background: 'white' }).toColourspace('srgb');
      if (size) picture.resize(size.width, size.height, { fit: 'fill', kernel: 'lanczos3' });
      const { size: bytes } = await picture.png({ compressionLevel: 1 }).toFile(target);
      return { path: target, bytes, sha256: await sha256Of(target) };
    } catch (error) {
      throw unreadable(field, explainDecoder(error), error);
    }
  });
}

/** Reading rows in order, the last one is reached only through all others: a whole decode in the memory of one row. */
async function decodeToLastRow(path: string, field: string, { width, height }: { width: number; height: number }): Promise<void> {
  try {
    await sharp(path, { ...DECODER, limitInputPixels: false })
      .extract({ left: 0, top: height - 1, width, height: 1 }).raw().toBuffer();
  } catch (error) {
    throw unreadable(field, explainDecoder(error), error);
  }
}

function once(work: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => result ??= work();
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function unreadable(field: string, why: string, cause?: unknown): IqaError {
  return new IqaError('IQA_INPUT_IMAGE', `Expected a complete, undamaged picture for ${field}, but ${why}`, { cause });
}

// Decoders speak of their own insides, and sometimes name the file: the user is told what it means, the log has their words.
function explainDecoder(error: unknown): string {
  const early = /premature|truncat|end of|bad seek|read error|unable to (read|write)|not enough/i.test(messageOf(error));
  return early ? 'the file is damaged or ends too early' : 'it cannot be decoded';
}

const megapixels = (pixels: number): string => (pixels / 1e6).toFixed(1).replace(/\.0$/, '');
