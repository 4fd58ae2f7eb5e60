import type { ScopedRegion } from '../../tools/evidence/source.ts';
import type { Capabilities, ModelImage } from '../../vlm/client.ts';
import type { VlmContext } from './context.ts';

/** The whole image, its reference and a crop of each boxed region, up to the model's maximum. */
export async function selectImages(
  objects: readonly string[],
  regions: readonly ScopedRegion[],
  { maxImages }: Capabilities,
  { images }: VlmContext,
): Promise<ModelImage[]> {
  const boxed = regions.flatMap(({ name, box }) => (box !== null && objects.includes(name) ? [{ name, box }] : []));
  const crops = await Promise.all(boxed.slice(0, maxImages).map((region) => images.crop(region)));
  // A model that accepts a single image gets the region.
  if (maxImages === 1 && crops.length > 0) return crops.slice(0, 1);
  const [whole, reference] = await Promise.all([images.whole(), images.reference()]);
  return [whole, ...(reference ? [reference] : []), ...crops].slice(0, maxImages);
}
