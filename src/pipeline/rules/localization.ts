// Beside the tools: where in the picture a distortion is strongest, from the local map that shows it, reduced to one of a dozen places.
import type { Finding, Place } from '../../../schemas/responses/assessment.ts';
import type { DistortionCategory } from '../../../schemas/vocabulary.ts';
import type { ScopedRegion } from '../../tools/evidence/source.ts';
import type { RunContext } from '../run-context.ts';

export interface PlaceRequest {
  findings: readonly Finding[];
  regions: readonly ScopedRegion[];
  hasReference: boolean;
}

/** The findings with the place of the worst one that a map can show, for each region. A map that cannot be made is no reason to fail. */
export async function locate(
  { findings, regions, hasReference }: PlaceRequest,
  { evidence, log }: RunContext,
  signal: AbortSignal,
): Promise<Finding[]> {
  const sought = regions.flatMap((region) => {
    const finding = findings.find(
      (item) =>
        item.object_name === region.name && item.severity !== 'none' && mapOf(item.distortion, hasReference) !== null,
    );
    const map = finding ? mapOf(finding.distortion, hasReference) : null;
    return finding && map !== null ? [{ finding, region, map }] : [];
  });
  if (sought.length === 0) return [...findings];
  const grids = await evidence.locate(sought, signal).catch((error: unknown) => {
    if (signal.aborted) throw error;
    log.warn({ err: error }, 'No places');
    return [];
  });
  const places = new Map(sought.map(({ finding, map }, index) => [finding, placeOf(grids[index] ?? null, map)]));
  return findings.map((finding) => ({ ...finding, place: places.get(finding) ?? finding.place }));
}

/** Without a reference three distortions have maps of their own; beside one, whatever differs from it shows. */
function mapOf(distortion: DistortionCategory, hasReference: boolean): string | null {
  // SSIM sees a change of light, to which MDSI's gradients are blind; MDSI sees colour, and costs a third.
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

type Where = Place['where'];

/** The cells of each place, row by row from the upper left; a place may have several shapes. */
const SHAPES: readonly [Where, string][] = [
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
/** Less than this on average, and the map does not show what the measurement found. */
const SHOWS = 0.01;
/** Nine cells whose deviation is below this share of their mean differ by what the scene has there, not by the distortion. */
const EVEN = 0.35;
/** A shape that explains less than half of the variation does not describe it. */
const LIKE = 0.7;

/** Null without a map, or where it shows nothing. */
export function placeOf(grid: readonly number[] | null, map: string): Place | null {
  if (grid?.length !== 9 || mean(grid) < SHOWS) return null;
  if (deviation(grid) < EVEN * mean(grid)) return { where: 'all over', grid: [...grid], map };
  const [where, likeness] = SHAPES.map(([name, cells]): [Where, number] => [
    name,
    correlation(grid, Array.from(cells, Number)),
  ]).reduce((best, next) => (next[1] > best[1] ? next : best));
  return { where: likeness >= LIKE ? where : 'several places', grid: [...grid], map };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const deviation = (values: readonly number[]): number =>
  Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)));

function correlation(left: readonly number[], right: readonly number[]): number {
  const [leftMean, rightMean] = [mean(left), mean(right)];
  return (
    mean(left.map((value, index) => (value - leftMean) * ((right[index] ?? 0) - rightMean))) /
    (deviation(left) * deviation(right))
  );
}
