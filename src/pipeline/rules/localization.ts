// Says where in the image a distortion is strongest: a local map, reduced to a grid of 3 × 3, is classified as one of a dozen places.
import type { Finding, Place } from '../../../schemas/responses/assessment.ts';
import type { DistortionCategory } from '../../../schemas/vocabulary.ts';
import { mean } from '../../lib/mean.ts';
import type { ScopedRegion } from '../../tools/evidence/source.ts';
import type { RunContext } from '../run-context.ts';

interface LocalizationRequest {
  findings: readonly Finding[];
  regions: readonly ScopedRegion[];
  hasReference: boolean;
}

/** Adds its place to the worst finding of each region that a map can show. A map that cannot be made is not an error. */
export async function localizeFindings(
  { findings, regions, hasReference }: LocalizationRequest,
  { evidence, log }: RunContext,
  signal: AbortSignal,
): Promise<Finding[]> {
  const wanted = regions.flatMap((region) => {
    const finding = findings.find(
      (item) =>
        item.object_name === region.name &&
        item.severity !== 'none' &&
        selectMap(item.distortion, hasReference) !== null,
    );
    const map = finding ? selectMap(finding.distortion, hasReference) : null;
    return finding && map !== null ? [{ finding, region, map }] : [];
  });
  if (wanted.length === 0) return [...findings];
  const grids = await evidence.locate(wanted, signal).catch((error: unknown) => {
    if (signal.aborted) throw error;
    log.warn({ err: error }, 'Localization failed');
    return [];
  });
  const places = new Map(wanted.map(({ finding, map }, index) => [finding, classifyPlace(grids[index] ?? null, map)]));
  return findings.map((finding) => ({ ...finding, place: places.get(finding) ?? finding.place }));
}

/** Without a reference only four distortions have a map; with one, every difference from it shows. */
function selectMap(distortion: DistortionCategory, hasReference: boolean): string | null {
  // MDSI's gradients do not react to brightness and contrast, SSIM does. MDSI reacts to colour and takes a third of the time.
  if (hasReference) return distortion === 'Brightness change' || distortion === 'Contrast' ? 'SSIM' : 'MDSI';
  switch (distortion) {
    case 'Blurs':
    case 'Sharpness':
      return 'edge_width_px';
    case 'Noise':
      return 'noise_sigma';
    case 'Compression':
      return 'blockiness';
    default:
      return null;
  }
}

/** The nine cells of each place, row by row from the upper left; a place may have several shapes. */
const SHAPES: readonly [Place['where'], string][] = [
  ['upper left', '100000000'],
  ['top', '010000000'],
  ['upper right', '001000000'],
  ['left', '000100000'],
  ['centre', '000010000'],
  ['right', '000001000'],
  ['lower left', '000000100'],
  ['bottom', '000000010'],
  ['lower right', '000000001'],
  ['top', '111000000'],
  ['centre', '000111000'],
  ['bottom', '000000111'],
  ['left', '100100100'],
  ['centre', '010010010'],
  ['right', '001001001'],
  ['top', '111111000'],
  ['bottom', '000111111'],
  ['left', '110110110'],
  ['right', '011011011'],
  ['upper left', '110110000'],
  ['upper right', '011011000'],
  ['lower left', '000110110'],
  ['lower right', '000011011'],
  ['edges', '111101111'],
  ['edges', '101000101'],
];
/** Below this mean the map does not show what the measurement found. */
const MIN_MEAN = 0.01;
/** Ratio of deviation to mean below which the cells differ by scene content, not by the distortion. */
const UNIFORM_RATIO = 0.35;
/** A shape with a lower correlation explains less than half of the variance. */
const MIN_CORRELATION = 0.7;

/** Null without a map, or when the map shows nothing. */
export function classifyPlace(grid: readonly number[] | null, map: string): Place | null {
  if (grid?.length !== 9 || mean(grid) < MIN_MEAN) return null;
  if (deviation(grid) < UNIFORM_RATIO * mean(grid)) return { where: 'all over', grid: [...grid], map };
  const [where, similarity] = SHAPES.map(([name, cells]): [Place['where'], number] => [
    name,
    correlation(grid, Array.from(cells, Number)),
  ]).reduce((best, next) => (next[1] > best[1] ? next : best));
  return { where: similarity >= MIN_CORRELATION ? where : 'several places', grid: [...grid], map };
}

const deviation = (values: readonly number[]): number =>
  Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)));

function correlation(left: readonly number[], right: readonly number[]): number {
  const [leftMean, rightMean] = [mean(left), mean(right)];
  return (
    mean(left.map((value, index) => (value - leftMean) * ((right[index] ?? 0) - rightMean))) /
    (deviation(left) * deviation(right))
  );
}
