// Prepares an image and its reference for measuring; a reference of another size is resized or refused.
import { IqaError } from '../errors.ts';
import type { SpooledFile, SpoolSession } from '../uploads/spool.ts';
import { prepareImage, resizeImage, type DecodingLimits, type PreparedImage } from './prepare-image.ts';

type Alignment = 'none' | 'resize';

interface PreparedPair {
  image: PreparedImage;
  reference: PreparedImage | null;
}

export async function preparePair(
  files: { image: SpooledFile; reference: SpooledFile | null },
  align: Alignment | undefined,
  session: SpoolSession,
  limits: DecodingLimits,
): Promise<PreparedPair> {
  const [image, reference] = await Promise.all([
    prepareImage(files.image, 'image', session, limits),
    files.reference ? prepareImage(files.reference, 'reference', session, limits) : null,
  ]);
  return { image, reference: reference && (await alignReference(reference, image, align, session)) };
}

/** `imageName`: what an error message calls the image. */
export async function alignReference(
  reference: PreparedImage,
  image: PreparedImage,
  align: Alignment | undefined,
  session: SpoolSession,
  imageName = 'the image',
): Promise<PreparedImage> {
  if (reference.info.width === image.info.width && reference.info.height === image.info.height) return reference;
  if (align === 'resize') return resizeImage(reference, image.info, session);
  throw new IqaError(
    'IQA_INPUT_SIZE_MISMATCH',
    `Expected a reference of ${formatSize(image)} pixels, the size of ${imageName}, but received ${formatSize(reference)}; align=resize resizes it`,
  );
}

const formatSize = ({ info }: PreparedImage): string => `${info.width} × ${info.height}`;
