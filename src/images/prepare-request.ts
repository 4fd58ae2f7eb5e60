// The pictures of one request, ready for measuring: each decoded by policy, the reference brought to the image's size or refused.
import type { AssessRequest } from '../../schemas/requests/assess.ts';
import { IqaError } from '../errors.ts';
import { prepareImage, resizeTo, type DecodingLimits, type PreparedImage } from './prepare-image.ts';
import type { Upload } from '../uploads/assess-form.ts';
import type { SpoolSession } from '../uploads/spool.ts';

export interface PreparedPictures {
  image: PreparedImage;
  reference: PreparedImage | null;
}

export async function preparePictures(
  files: Upload['files'],
  align: AssessRequest['align'],
  session: SpoolSession,
  limits: DecodingLimits,
): Promise<PreparedPictures> {
  const imageFile = files.get('image');
  const referenceFile = files.get('reference');
  if (!imageFile) throw new TypeError('Expected the intake to have received an image');
  const [image, reference] = await Promise.all([
    prepareImage(imageFile, 'image', session, limits),
    referenceFile ? prepareImage(referenceFile, 'reference', session, limits) : null,
  ]);
  return { image, reference: reference && (await alignReference(reference, image, align, session)) };
}

/** `name`: what the request calls the image. */
export async function alignReference(
  reference: PreparedImage,
  image: PreparedImage,
  align: AssessRequest['align'],
  session: SpoolSession,
  name = 'the image',
): Promise<PreparedImage> {
  if (reference.info.width === image.info.width && reference.info.height === image.info.height) return reference;
  if (align === 'resize') return resizeTo(reference, image.info, session);
  throw new IqaError(
    'IQA_INPUT_SIZE_MISMATCH',
    `Expected a reference of ${sizeOf(image)} pixels, the size of ${name}, but received ${sizeOf(reference)}; align=resize resizes it`,
  );
}

const sizeOf = ({ info }: PreparedImage): string => `${info.width} × ${info.height}`;
