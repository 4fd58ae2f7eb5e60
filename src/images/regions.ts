// Checks the boxes given for an image: inside it, not empty, each name once.
import type { Region } from '../../schemas/requests/assess.ts';
import { issue, type Issue } from '../../schemas/validation/explain.ts';
import { ValidationError } from '../../schemas/validation/model.ts';
import { GLOBAL } from '../../schemas/vocabulary.ts';

export function checkRegions(
  regions: readonly Region[],
  { width, height }: { width: number; height: number },
): readonly Region[] {
  const issues = regions.flatMap(({ name, box }, index): Issue[] => {
    const [x = 0, y = 0, boxWidth = 0, boxHeight = 0] = box;
    const isInside =
      x >= 0 && y >= 0 && boxWidth > 0 && boxHeight > 0 && x + boxWidth <= width && y + boxHeight <= height;
    const isGlobal = name.trim().toLowerCase() === GLOBAL.toLowerCase();
    const first = regions.findIndex((other) => other.name.toLowerCase() === name.toLowerCase());
    return [
      ...(isInside
        ? []
        : [
            issue(
              `/regions/${index}/box`,
              `[x, y, width, height] inside the image of ${width} × ${height} pixels`,
              box,
            ),
          ]),
      ...(first === index ? [] : [issue(`/regions/${index}/name`, 'a name that no other region has', name)]),
      ...(isGlobal
        ? [issue(`/regions/${index}/name`, `a name other than "${GLOBAL}", which is the whole image`, name)]
        : []),
    ];
  });
  if (issues.length > 0) throw new ValidationError('regions', issues);
  return regions;
}
