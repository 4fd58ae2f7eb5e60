// From a tool's local map to nine numbers: how bad each ninth of the picture is. All that is kept of a map nobody asked to see.
import sharp from 'sharp';
import type { ToolEvent } from '../../../schemas/sidecar.ts';

const CELLS = 3;

/** Row by row from the upper left, 0 (nothing) to 1 (as bad as the map can say). Maps are 1 where all is well. */
export async function reduceMap(map: NonNullable<ToolEvent['map']>): Promise<number[]> {
  const {
    data,
    info: { width, height, channels },
  } = await sharp(Buffer.from(map.base64, 'base64')).greyscale().raw().toBuffer({ resolveWithObject: true });
  const sums = new Float64Array(CELLS * CELLS);
  const counts = new Float64Array(CELLS * CELLS);
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const cell = cellOf(row, height) * CELLS + cellOf(column, width);
      sums[cell] = (sums[cell] ?? 0) + 255 - (data[(row * width + column) * channels] ?? 255);
      counts[cell] = (counts[cell] ?? 0) + 1;
    }
  }
  return [...sums].map((sum, cell) => Math.round((sum / Math.max(1, counts[cell] ?? 0) / 255) * 1e4) / 1e4);
}

/** By the middle of the map's pixel: a map of two pixels fills the outer thirds, and nobody claims to know the middle one. */
const cellOf = (at: number, side: number): number => Math.min(CELLS - 1, Math.floor((CELLS * (at + 0.5)) / side));
