// From an uploaded file to one the sidecar may decode: found out by its bytes, judged by the policy, freed of all that is not the picture.
import type { Metadata } from 'sharp';
import type { ImageInfo } from '../../schemas/responses/assessment.ts';
import { IqaError } from '../errors.ts';
import { rewriteBmpAsTiff } from './bmp/to-tiff.ts';
import { readBmpHeader } from './bmp/header.ts';
import { decodeToLastRow, normalise, readMetadata, unreadable, type Size } from './sharp-decoder.ts';
import { readJpegQuality } from './jpeg-quality.ts';
import { beginningOf, copyPicture } from './containers/strip-metadata.ts';
import { gatherFacts, judge, REFUSED_PIXELS } from './policy.ts';
import { ACCEPTED_FORMATS, sniff, type ImageFormat } from './formats/sniff.ts';
import type { SpooledFile, SpoolSession } from '../uploads/spool.ts';
import { StructureError } from './containers/container.ts';
import { readStructure } from './containers/containers.ts';

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

/** A JPEG's quantisation tables stand within so many bytes, not counting what applications hung on. */
const TABLE_BYTES = 8_192;

export async function prepareImage(
  file: SpooledFile,
  field: string,
  session: SpoolSession,
  limits: DecodingLimits,
): Promise<PreparedImage> {
  const format = identify(file, field);
  const structure = await readStructure(file, format).catch((error: unknown) => {
    throw unreadable(field, error);
  });
  // Before even the decoder's header reader sees it.
  if (structure?.size) refuseTooManyPixels(structure.size, field, limits);
  const path = format === 'bmp' ? await rewriteBmp(file, field, session, limits) : file.path;
  const metadata = await readMetadata(path, field);
  refuseStrangePixels(metadata, field);
  const size = uprightSize(metadata);
  refuseTooManyPixels(size, field, limits);
  const facts = gatherFacts(format, metadata, structure);
  const { notes, reencodes } = judge(facts);
  const isJpeg = format === 'jpeg';
  const info = { sha256: file.sha256, ...size, format, bytes: file.bytes, notes };
  if (!reencodes && structure) {
    const sent = await copyPicture(file, structure, session);
    return {
      info,
      ...sent,
      jpegQuality: null,
      verify: once(() => decodeToLastRow({ path: sent.path, isJpeg }, field, size)),
    };
  }
  const jpegQuality = isJpeg && structure ? readJpegQuality(await beginningOf(file, structure, TABLE_BYTES)) : null;
  return {
    info,
    ...(await normalise({ path, isJpeg, ignoreProfile: facts.profile !== 'other' }, field, session)),
    jpegQuality,
    verify: () => Promise.resolve(),
  };
}

/** Brings a reference to the size of the image; flagged in its notes. */
export async function resizeTo(image: PreparedImage, size: Size, session: SpoolSession): Promise<PreparedImage> {
  const target = await normalise({ path: image.path, isJpeg: false, ignoreProfile: true }, 'reference', session, {
    width: size.width,
    height: size.height,
  });
  const note = `resized from ${image.info.width} × ${image.info.height} to ${size.width} × ${size.height} to match the image`;
  return { ...image, ...target, info: { ...image.info, notes: [...image.info.notes, note] } };
}

function identify(file: SpooledFile, field: string): ImageFormat {
  if (file.bytes === 0) throw unreadable(field, new StructureError('the file is empty'));
  const sniffed = sniff(file.head);
  if (sniffed && 'format' in sniffed) return sniffed.format;
  const accepted = ACCEPTED_FORMATS.map((format) => format.toUpperCase()).join(', ');
  if (sniffed)
    throw new IqaError(
      'IQA_INPUT_MEDIA_TYPE',
      `Expected ${accepted} for ${field} but received ${sniffed.refused}. ${sniffed.advice}.`,
    );
  throw unreadable(
    field,
    new StructureError(`its first bytes are those of no known image format (accepted: ${accepted})`),
  );
}

function rewriteBmp(file: SpooledFile, field: string, session: SpoolSession, limits: DecodingLimits): Promise<string> {
  return session.produce(async (target) => {
    try {
      const header = readBmpHeader(file.head, file.bytes);
      refuseTooManyPixels(header, field, limits);
      await rewriteBmpAsTiff(file.path, target, header);
      return target;
    } catch (error) {
      throw error instanceof IqaError ? error : unreadable(field, error);
    }
  });
}

function refuseStrangePixels(metadata: Metadata, field: string): void {
  const strange = REFUSED_PIXELS.find(({ applies }) => applies(metadata));
  if (strange)
    throw new IqaError(
      'IQA_INPUT_MEDIA_TYPE',
      `Expected ${strange.expected} for ${field} but received ${metadata.channels} × ${metadata.depth} (${metadata.space})`,
    );
}

function refuseTooManyPixels({ width, height }: Size, field: string, { maxPixels }: DecodingLimits): void {
  if (width * height <= maxPixels) return;
  throw new IqaError(
    'IQA_INPUT_TOO_LARGE',
    `Expected at most ${megapixels(maxPixels)} megapixels for ${field} but received ${width} × ${height} (${megapixels(width * height)} megapixels)`,
  );
}

function uprightSize(metadata: Metadata): Size {
  const turned = (metadata.orientation ?? 1) >= 5;
  const width = metadata.width;
  const height = metadata.pageHeight ?? metadata.height;
  return turned ? { width: height, height: width } : { width, height };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => (result ??= work());
}

const megapixels = (pixels: number): string => (pixels / 1e6).toFixed(1).replace(/\.0$/, '');
