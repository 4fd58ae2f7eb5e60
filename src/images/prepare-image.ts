// Turns an uploaded file into one the sidecar may decode: identifies it by its bytes, applies the decoding policy, removes metadata.
import type { Metadata } from 'sharp';
import type { ImageInfo } from '../../schemas/responses/assessment.ts';
import { IqaError } from '../errors.ts';
import { rewriteBmpAsTiff } from './bmp/to-tiff.ts';
import { readBmpHeader } from './bmp/header.ts';
import { decodeToLastRow, encodeAsSrgbPng, readMetadata, unreadableImageError, type Size } from './sharp-decoder.ts';
import { readJpegQuality } from './jpeg-quality.ts';
import { copyImageData, readImageStart } from './containers/strip-metadata.ts';
import { applyPolicy, gatherFacts, UNSUPPORTED_PIXELS } from './policy.ts';
import { ACCEPTED_FORMATS, sniff, type ImageFormat } from './formats/sniff.ts';
import type { SpooledFile, SpoolSession } from '../uploads/spool.ts';
import { MalformedFileError } from './containers/container.ts';
import { readContainer } from './containers/containers.ts';

/** An image ready for measuring: a handle to its file, never the pixels. */
export interface PreparedImage {
  info: ImageInfo;
  /** Its name in the request (image, reference, images[0]), for error messages. */
  field: string;
  /** The file that the sidecar receives. */
  path: string;
  bytes: number;
  /** Hash of that file; part of every cache key. */
  sha256: string;
  /** JPEG quality of the original if the file was re-encoded, which drops its quantisation tables. */
  jpegQuality: number | null;
  /** Decodes the whole file, at most once; rejects if the pixels are damaged. Meant to run in parallel with the measuring. */
  verify: () => Promise<void>;
}

export interface DecodingLimits {
  maxPixels: number;
}

/** A JPEG's quantisation tables lie within this many bytes, application segments not counted. */
const JPEG_TABLE_BYTES = 8_192;

export async function prepareImage(
  file: SpooledFile,
  field: string,
  session: SpoolSession,
  limits: DecodingLimits,
): Promise<PreparedImage> {
  const format = identifyFormat(file, field);
  const container = await readContainer(file, format).catch((error: unknown) => {
    throw unreadableImageError(field, error);
  });
  // Checked before even the decoder's header reader sees the file.
  if (container?.size) assertMaxPixels(container.size, field, limits);
  const path = format === 'bmp' ? await rewriteBmp(file, field, session, limits) : file.path;
  const metadata = await readMetadata(path, field);
  assertSupportedPixels(metadata, field);
  const size = uprightSize(metadata);
  assertMaxPixels(size, field, limits);
  const facts = gatherFacts(format, metadata, container);
  const { notes, reencodes } = applyPolicy(facts);
  const isJpeg = format === 'jpeg';
  const info = { sha256: file.sha256, ...size, format, bytes: file.bytes, notes };
  if (!reencodes && container) {
    const output = await copyImageData(file, container, session);
    return {
      info,
      field,
      ...output,
      jpegQuality: null,
      verify: once(() => decodeToLastRow({ path: output.path, isJpeg }, field, size)),
    };
  }
  const jpegQuality =
    isJpeg && container ? readJpegQuality(await readImageStart(file, container, JPEG_TABLE_BYTES)) : null;
  return {
    info,
    field,
    ...(await encodeAsSrgbPng({ path, isJpeg, ignoreProfile: facts.profile !== 'other' }, field, session)),
    jpegQuality,
    verify: () => Promise.resolve(),
  };
}

/** Resizes a reference to the size of the image and notes it. */
export async function resizeImage(image: PreparedImage, size: Size, session: SpoolSession): Promise<PreparedImage> {
  const target = await encodeAsSrgbPng({ path: image.path, isJpeg: false, ignoreProfile: true }, 'reference', session, {
    width: size.width,
    height: size.height,
  });
  const note = `resized from ${image.info.width} × ${image.info.height} to ${size.width} × ${size.height} to match the image`;
  return { ...image, ...target, info: { ...image.info, notes: [...image.info.notes, note] } };
}

function identifyFormat(file: SpooledFile, field: string): ImageFormat {
  if (file.bytes === 0) throw unreadableImageError(field, new MalformedFileError('the file is empty'));
  const sniffed = sniff(file.head);
  if (sniffed && 'format' in sniffed) return sniffed.format;
  const accepted = ACCEPTED_FORMATS.map((format) => format.toUpperCase()).join(', ');
  if (sniffed)
    throw new IqaError(
      'IQA_INPUT_MEDIA_TYPE',
      `Expected ${accepted} for ${field} but received ${sniffed.unsupported}. ${sniffed.advice}.`,
    );
  throw unreadableImageError(
    field,
    new MalformedFileError(`its first bytes match no known image format (accepted: ${accepted})`),
  );
}

function rewriteBmp(file: SpooledFile, field: string, session: SpoolSession, limits: DecodingLimits): Promise<string> {
  return session.produce(async (target) => {
    try {
      const header = readBmpHeader(file.head, file.bytes);
      assertMaxPixels(header, field, limits);
      await rewriteBmpAsTiff(file.path, target, header);
      return target;
    } catch (error) {
      throw error instanceof IqaError ? error : unreadableImageError(field, error);
    }
  });
}

function assertSupportedPixels(metadata: Metadata, field: string): void {
  const unsupported = UNSUPPORTED_PIXELS.find(({ applies }) => applies(metadata));
  if (unsupported)
    throw new IqaError(
      'IQA_INPUT_MEDIA_TYPE',
      `Expected ${unsupported.expected} for ${field} but received ${metadata.channels} × ${metadata.depth} (${metadata.space})`,
    );
}

function assertMaxPixels({ width, height }: Size, field: string, { maxPixels }: DecodingLimits): void {
  if (width * height <= maxPixels) return;
  throw new IqaError(
    'IQA_INPUT_TOO_LARGE',
    `Expected at most ${megapixels(maxPixels)} megapixels for ${field} but received ${width} × ${height} (${megapixels(width * height)} megapixels)`,
  );
}

function uprightSize(metadata: Metadata): Size {
  const isRotated = (metadata.orientation ?? 1) >= 5;
  const width = metadata.width;
  const height = metadata.pageHeight ?? metadata.height;
  return isRotated ? { width: height, height: width } : { width, height };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => (result ??= work());
}

const megapixels = (pixels: number): string => (pixels / 1e6).toFixed(1).replace(/\.0$/, '');
