// The rated pictures of the accuracy benchmark: manifests written by sidecar/training/manifests.py, and what TID2013's numbers mean.
import { readFileSync } from 'node:fs';
import type { DistortionCategory } from '../../schemas/vocabulary.ts';

export interface RatedPicture {
  file: string;
  reference: string | null;
  /** TID2013's number of the distortion, 1 to 24; null elsewhere. */
  type: number | null;
  /** TID2013: 1 to 5. */
  level: number | null;
  /** Pictures of one group show the same content. */
  group: string;
  mos: number;
}

export interface Dataset {
  name: string;
  folder: string;
  pictures: readonly RatedPicture[];
  /** Ratings that count as 1 and as 5, as in the calibrations of the tools. */
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

/** The types whose category is beyond doubt. Masked, quantisation and comfort noise are not: two of them are hidden on purpose, one looks like banding. */
const TYPES_OF: readonly (readonly [DistortionCategory, readonly number[]])[] = [
  ['Noise', [1, 2, 3, 5, 6, 19]],
  ['Blurs', [8]],
  ['Compression', [10, 11]],
  ['Brightness change', [16]],
  ['Contrast', [17]],
  ['Color distortions', [18]],
];
export const CLEAR_CATEGORIES = TYPES_OF.map(([category]) => category);
export const CATEGORY_OF_TYPE = new Map(
  TYPES_OF.flatMap(([category, types]) => types.map((type) => [type, category] as const)),
);

export function readDataset(name: string, manifest: string, folder: string, scale: Dataset['scale']): Dataset {
  const [header = '', ...lines] = readFileSync(manifest, 'utf8').trim().split(/\r?\n/);
  const columns = header.split(',');
  const pictures = lines.map((line): RatedPicture => {
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
  if (pictures.some(({ file, group, mos }) => !file || !group || !Number.isFinite(mos)))
    throw new Error(`Expected file, group and mos in every row of ${manifest}`);
  return { name, folder, pictures, scale };
}

/** A rating on the scale of our scores, 1 to 5. */
export function onScale(mos: number, [worst, best]: Dataset['scale']): number {
  return Math.min(5, Math.max(1, 1 + (4 * (mos - worst)) / (best - worst)));
}
