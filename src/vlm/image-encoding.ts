// Encodes images for a model: the whole image at a moderate size, and crops at full resolution. Each is encoded once per request.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import sharp, { type Sharp } from 'sharp';
import { IqaError } from '../errors.ts';
import type { PreparedImage } from '../images/prepare-image.ts';
import { sniff, SNIFF_BYTES } from '../images/formats/sniff.ts';
import type { ScopedRegion } from '../tools/evidence/source.ts';
import type { ModelImage } from './client.ts';

interface ImageSettings {
  /** Longer side in pixels; smaller images are never enlarged. */
  long_side: number;
  crop_long_side: number;
}

export interface ImageSource {
  whole: () => Promise<ModelImage>;
  reference: () => Promise<ModelImage | null>;
  crop: (region: ScopedRegion & { box: readonly number[] }) => Promise<ModelImage>;
}

const MEDIA_TYPES = new Map<string, ModelImage['mediaType']>([
  ['jpeg', 'image/jpeg'],
  ['png', 'image/png'],
  ['webp', 'image/webp'],
]);
/** Larger files are re-encoded: providers refuse more than 5 MB, and base64 adds a third. */
const MAX_BYTES = 3_000_000;

export function createImageSource(
  image: PreparedImage,
  reference: PreparedImage | null,
  settings: ImageSettings,
): ImageSource {
  const encoded = new Map<string, Promise<ModelImage>>();
  const once = (key: string, encode: () => Promise<ModelImage>): Promise<ModelImage> => {
    const image = encoded.get(key) ?? encode();
    encoded.set(key, image);
    return image;
  };
  return {
    whole: () => once('whole', () => encodeWhole(image, 'The image to assess:', settings)),
    reference: () =>
      reference
        ? once('reference', () => encodeWhole(reference, 'The pristine reference of the same image:', settings))
        : Promise.resolve(null),
    crop: ({ name, box }) => once(JSON.stringify([name, box]), () => encodeCrop(image, name, box, settings)),
  };
}

async function encodeWhole(image: PreparedImage, label: string, { long_side }: ImageSettings): Promise<ModelImage> {
  const { width, height } = image.info;
  // The original file keeps all artefacts.
  if (Math.max(width, height) <= long_side && image.bytes <= MAX_BYTES) {
    const file = await readFile(image.path);
    const sniffed = sniff(file.subarray(0, SNIFF_BYTES));
    const mediaType = sniffed && 'format' in sniffed ? MEDIA_TYPES.get(sniffed.format) : undefined;
    if (mediaType) return { label, mediaType, base64: file.toString('base64'), width, height, key: image.sha256 };
  }
  return encode(image, label, `${image.sha256}|${long_side}`, (pipeline) => fitInto(pipeline, long_side), JPEGS);
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
    (pipeline) => fitInto(pipeline.extract({ left, top, width, height }), crop_long_side),
    [PNG, ...JPEGS],
  );
}

const fitInto = (pipeline: Sharp, side: number): Sharp =>
  pipeline.resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true, kernel: 'lanczos3' });

interface Encoding {
  mediaType: ModelImage['mediaType'];
  apply: (pipeline: Sharp) => Sharp;
}

const PNG: Encoding = { mediaType: 'image/png', apply: (pipeline) => pipeline.png({ compressionLevel: 3 }) };
/** The first is visually lossless without chroma subsampling; the others are for images that would otherwise be too large. */
const JPEGS: readonly Encoding[] = [95, 85, 60].map((quality) => ({
  mediaType: 'image/jpeg',
  apply: (pipeline) => pipeline.jpeg({ quality, chromaSubsampling: '4:4:4' }),
}));

/** Uses the first encoding that is small enough, or the last one. */
async function encode(
  image: PreparedImage,
  label: string,
  key: string,
  transform: (pipeline: Sharp) => Sharp,
  encodings: readonly Encoding[],
): Promise<ModelImage> {
  try {
    const pipeline = transform(sharp(image.path, { failOn: 'error', limitInputPixels: false }));
    for (const [index, { mediaType, apply }] of encodings.entries()) {
      const { data, info } = await apply(pipeline.clone()).toBuffer({ resolveWithObject: true });
      if (data.length > MAX_BYTES && index < encodings.length - 1) continue;
      return { label, mediaType, base64: data.toString('base64'), width: info.width, height: info.height, key };
    }
    throw new Error('No encoding given');
  } catch (error) {
    throw new IqaError('IQA_INPUT_IMAGE', 'Expected a complete, undamaged image, but its pixels cannot be decoded', {
      cause: error,
    });
  }
}
