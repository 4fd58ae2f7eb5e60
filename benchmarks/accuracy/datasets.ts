// Reads rated images from the manifests of sidecar/training/manifests.py, and names TID2013's distortion types.
import { readFileSync } from 'node:fs';
import type { DistortionCategory } from '../../schemas/vocabulary.ts';

export interface RatedImage {
  file: string;
  reference: string | null;
  /** TID2013's distortion number, 1 to 24; null for other data sets. */
  type: number | null;
  /** TID2013: 1 to 5. */
  level: number | null;
  /** Images of one group show the same content. */
  group: string;
  mos: number;
}

export interface Dataset {
  name: string;
  folder: string;
  images: readonly RatedImage[];
  /** Ratings that map to 1 and 5, as in the calibrations of the tools. */
  scale: readonly [worst: number, best: number];
}

export const TID_TYPES: Readonly<Record<number, string>> = {
  1: 'additive Gaussian noise',
  2: 'noise in colour components',
  3: 'spatially correlated noise',
  4: 'masked noise',
  5: 'high-frequency noise',
  6: 'impulse noise',
  7: 'quantisation noise',
  8: 'Gaussian blur',
  9: 'denoising',
  10: 'JPEG',
  11: 'JPEG 2000',
  12: 'JPEG transmission errors',
  13: 'JPEG 2000 transmission errors',
  14: 'non-eccentricity pattern noise',
  15: 'local blocks',
  16: 'mean shift',
  17: 'contrast change',
  18: 'saturation change',
  19: 'multiplicative noise',
  20: 'comfort noise',
  21: 'compression of noisy images',
  22: 'colour quantisation with dither',
  23: 'chromatic aberrations',
  24: 'sparse sampling',
};

/** Types with an unambiguous category. Masked and comfort noise are hidden on purpose, and quantisation noise looks like banding. */
const TYPES_BY_CATEGORY: readonly (readonly [DistortionCategory, readonly number[]])[] = [
  ['Noise', [1, 2, 3, 5, 6, 19]],
  ['Blurs', [8]],
  ['Compression', [10, 11]],
  ['Brightness change', [16]],
  ['Contrast', [17]],
  ['Color distortions', [18]],
];
export const CLEAR_CATEGORIES = TYPES_BY_CATEGORY.map(([category]) => category);
export const CATEGORY_BY_TYPE = new Map(
  TYPES_BY_CATEGORY.flatMap(([category, types]) => types.map((type) => [type, category] as const)),
);

export function readDataset(name: string, manifest: string, folder: string, scale: Dataset['scale']): Dataset {
  const [header = '', ...lines] = readFileSync(manifest, 'utf8').trim().split(/\r?\n/);
  const columns = header.split(',');
  const images = lines.map((line): RatedImage => {
    const cells = line.split(',');
    const cell = (column: string): string => cells[columns.indexOf(column)] ?? '';
    if (cells.length !== columns.length)
      throw new Error(`Expected ${columns.length} cells in ${manifest} but received "${line}"`);
    const type = /^tid-(\d+)$/.exec(cell('distortion'))?.[1];
    return {
      file: cell('file'),
      reference: cell('reference') || null,
      type: type ? Number(type) : null,
      level: cell('strength') ? Number(cell('strength')) : null,
      group: cell('group'),
      mos: Number(cell('mos')),
    };
  });
  if (images.some(({ file, group, mos }) => !file || !group || !Number.isFinite(mos)))
    throw new Error(`Expected file, group and mos in every row of ${manifest}`);
  return { name, folder, images, scale };
}

/** Maps a rating to the scale of our scores, 1 to 5. */
export function rescaleRating(mos: number, [worst, best]: Dataset['scale']): number {
  return Math.min(5, Math.max(1, 1 + (4 * (mos - worst)) / (best - worst)));
}
