// What a model is shown: the whole picture at a moderate size, and crops at full resolution. Made once a request, however many calls there are.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import sharp, { type Sharp } from 'sharp';
import { IqaError } from '../errors.ts';
import type { PreparedImage } from '../images/prepare-image.ts';
import { sniff, SNIFF_BYTES } from '../images/formats/sniff.ts';
import type { ScopedRegion } from '../tools/evidence/source.ts';
import type { ModelImage } from './client.ts';

export interface ImageSettings {
  /** Longer side in pixels; a smaller picture is never scaled up. */
  long_side: number;
  crop_long_side: number;
}

export interface ImageSource {
  whole: () => Promise<ModelImage>;
  reference: () => Promise<ModelImage | null>;
  crop: (region: ScopedRegion & { box: readonly number[] }) => Promise<ModelImage>;
}

const PLAIN = new Map<string, ModelImage['mediaType']>([
  ['jpeg', 'image/jpeg'],
  ['png', 'image/png'],
  ['webp', 'image/webp'],
]);
/** Above this a picture is encoded anew even though its size in pixels would fit: providers refuse more than 5 MB, in base64 a third more than the file. */
const MAX_BYTES = 3_000_000;

export function createImageSource(
  image: PreparedImage,
  reference: PreparedImage | null,
  settings: ImageSettings,
): ImageSource {
  const made = new Map<string, Promise<ModelImage>>();
  const once = (key: string, make: () => Promise<ModelImage>): Promise<ModelImage> => {
    const known = made.get(key) ?? make();
    made.set(key, known);
    return known;
  };
  return {
    whole: () => once('whole', () => encodeWhole(image, 'The picture to judge:', settings)),
    reference: () =>
      reference
        ? once('reference', () => encodeWhole(reference, 'The pristine reference of the same picture:', settings))
        : Promise.resolve(null),
    crop: ({ name, box }) => once(JSON.stringify([name, box]), () => encodeCrop(image, name, box, settings)),
  };
}

async function encodeWhole(image: PreparedImage, label: string, { long_side }: ImageSettings): Promise<ModelImage> {
  const { width, height } = image.info;
  // The file itself, artefacts and all, is the best that can be shown.
  if (Math.max(width, height) <= long_side && image.bytes <= MAX_BYTES) {
    const file = await readFile(image.path);
    const sniffed = sniff(file.subarray(0, SNIFF_BYTES));
    const mediaType = sniffed && 'format' in sniffed ? PLAIN.get(sniffed.format) : undefined;
    if (mediaType) return { label, mediaType, base64: file.toString('base64'), width, height, key: image.sha256 };
  }
  return encode(image, label, `${image.sha256}|${long_side}`, (picture) => fitInto(picture, long_side), JPEGS);
}

function encodeCrop(
  image: PreparedImage,
  name: string,
  box: readonly number[],
  { crop_long_side }: ImageSettings,
): Promise<ModelImage> {
  const [left = 0, top = 0, width = 1, height = 1] = box;
  const label = `Crop of the region called ${JSON.stringify(name)}, at full resolution:`;
  const key = createHash('sha256')
    .update(JSON.stringify([image.sha256, name, box, crop_long_side]))
    .digest('hex');
  return encode(
    image,
    label,
    key,
    (picture) => fitInto(picture.extract({ left, top, width, height }), crop_long_side),
    [PNG, ...JPEGS],
  );
}

const fitInto = (picture: Sharp, side: number): Sharp =>
  picture.resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true, kernel: 'lanczos3' });

interface Encoding {
  mediaType: ModelImage['mediaType'];
  apply: (picture: Sharp) => Sharp;
}

const PNG: Encoding = { mediaType: 'image/png', apply: (picture) => picture.png({ compressionLevel: 3 }) };
/** The first is above what the eye sees, and does not thin out the colours; the others are for what would otherwise be refused. */
const JPEGS: readonly Encoding[] = [95, 85, 60].map((quality) => ({
  mediaType: 'image/jpeg',
  apply: (picture) => picture.jpeg({ quality, chromaSubsampling: '4:4:4' }),
}));

/** In the best of the encodings in which the picture is small enough. */
async function encode(
  image: PreparedImage,
  label: string,
  key: string,
  make: (picture: Sharp) => Sharp,
  encodings: readonly Encoding[],
): Promise<ModelImage> {
  try {
    const picture = make(sharp(image.path, { failOn: 'error', limitInputPixels: false }));
    for (const [index, { mediaType, apply }] of encodings.entries()) {
      const { data, info } = await apply(picture.clone()).toBuffer({ resolveWithObject: true });
      if (data.length > MAX_BYTES && index < encodings.length - 1) continue;
      return { label, mediaType, base64: data.toString('base64'), width: info.width, height: info.height, key };
    }
    throw new Error('There is no encoding');
  } catch (error) {
    throw new IqaError('IQA_INPUT_IMAGE', 'Expected a complete, undamaged picture, but its pixels cannot be decoded', {
      cause: error,
    });
  }
}
