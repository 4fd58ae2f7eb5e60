// Maps the objects that a plan names to the regions of the image that can be measured.
import type { Region } from '../../../schemas/requests/assess.ts';
import type { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { GLOBAL, type DistortionCategory } from '../../../schemas/vocabulary.ts';
import { WHOLE_IMAGE, type ScopedRegion } from '../../tools/evidence/source.ts';

export interface Scope {
  /** Each under the name that the evidence uses. */
  regions: ScopedRegion[];
  /** Objects without a box: their measurements are of the whole image. */
  ungrounded: string[];
  /** The distortions that the plan names, by region name; null when it names none. */
  named: Record<string, DistortionCategory[]> | null;
  /** Names of boxes that the query does not ask about. */
  unused: string[];
}

export function resolveScope(plan: PlannerOutput, boxes: readonly Region[]): Scope {
  const objects = plan.query_scope === GLOBAL ? [] : plan.query_scope;
  const boxByObject = new Map(
    objects.map((object) => [object, boxes.find((region) => isSameObject(region.name, object))]),
  );
  const grounded = objects.flatMap((object) => {
    const region = boxByObject.get(object);
    return region ? [{ name: object, box: region.box }] : [];
  });
  const ungrounded = objects.filter((object) => !boxByObject.get(object));
  const needsWhole =
    objects.length === 0 ||
    ungrounded.length > 0 ||
    (plan.distortions !== null && Object.hasOwn(plan.distortions, GLOBAL));
  const used = new Set([...boxByObject.values()].map((region) => region?.name));
  return {
    regions: needsWhole ? [WHOLE_IMAGE, ...grounded] : grounded,
    ungrounded,
    named:
      plan.distortions === null
        ? null
        : mergeDistortions(Object.entries(plan.distortions), (object) => (boxByObject.get(object) ? object : GLOBAL)),
    unused: boxes.map((region) => region.name).filter((name) => !used.has(name)),
  };
}

/** Whether two names mean the same object: "the car" and a box called "Car" do. */
export function isSameObject(left: string, right: string): boolean {
  return withoutArticle(left) === withoutArticle(right);
}

const withoutArticle = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/^(the|a|an)\s+/, '');

/** The union of the distortions of all objects that get the same name. */
export function mergeDistortions(
  entries: readonly (readonly [object: string, distortions: readonly DistortionCategory[]])[],
  rename: (object: string) => string = (object) => object,
): Record<string, DistortionCategory[]> {
  const merged = new Map<string, Set<DistortionCategory>>();
  for (const [object, distortions] of entries) {
    const name = rename(object);
    merged.set(name, new Set([...(merged.get(name) ?? []), ...distortions]));
  }
  return Object.fromEntries(
    [...merged]
      .filter(([, distortions]) => distortions.size > 0)
      .map(([name, distortions]) => [name, [...distortions]]),
  );
}

export const formatUngrounded = (objects: readonly string[]): string =>
  `No box was given for ${objects.join(', ')}: what was measured is about the whole image.`;
