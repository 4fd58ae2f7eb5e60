// Prepares a file as the service does and shows what the sidecar would receive.
import { Readable } from 'node:stream';
import sharp from 'sharp';
import type { Test } from 'tap';
import { prepareImage, type PreparedImage } from '../../../src/images/prepare-image.ts';
import { createSpool, type SpoolSession } from '../../../src/uploads/spool.ts';
import { makeTempFolder } from '../temp-folder.ts';

export interface Prepared {
  image: PreparedImage;
  session: SpoolSession;
  /** R, G, B of each pixel that is measured. */
  pixels: Buffer;
}

export async function prepare(t: Test, file: Buffer, maxPixels = 50_000_000): Promise<Prepared> {
  const spool = await createSpool(await makeTempFolder(t));
  const session = spool.open();
  t.teardown(() => spool.close());
  const image = await prepareImage(await session.write(Readable.from([file])), 'image', session, { maxPixels });
  await image.verify();
  return { image, session, pixels: await sharp(image.path).toColourspace('srgb').raw().toBuffer() };
}

/** The largest and the mean difference of two images, in levels of 255. */
export function difference(actual: Uint8Array, expected: Uint8Array): { largest: number; mean: number } {
  if (actual.length !== expected.length) return { largest: Infinity, mean: Infinity };
  const differences = actual.map((value, index) => Math.abs(value - expected[index]!));
  return {
    largest: differences.reduce((most, value) => Math.max(most, value), 0),
    mean: differences.reduce((sum, value) => sum + value, 0) / actual.length,
  };
}
