// Bootstrap percentile intervals, resampling whole groups.
import { createRandom } from './random.ts';

export interface BootstrapOptions {
  seed?: number;
  rounds?: number;
  /** Share of the resampled figures inside the interval. */
  level?: number;
}

/**
 * `groups`: versions of one image are drawn together, since they are not independent.
 * Rounds in which the figure is undefined are skipped; null if none is left.
 */
export function bootstrapInterval<Row>(
  groups: readonly (readonly Row[])[],
  figure: (rows: readonly Row[]) => number,
  { seed = 1, rounds = 1_000, level = 0.95 }: BootstrapOptions = {},
): [low: number, high: number] | null {
  const random = createRandom(seed);
  const figures: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const value = figure(groups.flatMap(() => groups[Math.floor(random() * groups.length)] ?? []));
    if (Number.isFinite(value)) figures.push(value);
  }
  if (figures.length === 0) return null;
  figures.sort((a, b) => a - b);
  return [quantile(figures, (1 - level) / 2), quantile(figures, (1 + level) / 2)];
}

/** Of sorted values, with linear interpolation. */
export function quantile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const [low = NaN, high = low] = sorted.slice(below, below + 2);
  return low + (high - low) * (place - below);
}
