// From the objects that a plan names to the parts of the picture that can be measured.
import type { Region } from '../../../schemas/requests/assess.ts';
import type { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { GLOBAL, type DistortionCategory } from '../../../schemas/vocabulary.ts';
import { WHOLE_PICTURE, type ScopedRegion } from '../../tools/evidence/source.ts';
import type { RunContext } from '../run-context.ts';
import type { PipelineState } from '../state.ts';

export interface Scope {
  /** Each under the name that the evidence uses. */
  regions: ScopedRegion[];
  /** Objects without a box: what is said about them is about the whole picture. */
  ungrounded: string[];
  /** The distortions that the plan names, under the names of the evidence; null when it names none. */
  named: Record<string, DistortionCategory[]> | null;
  /** Boxes that were given but are not asked about. */
  unused: string[];
}

/** The request's boxes, and those that a reasoner found. */
export function boxesOf({ grounded_regions = [] }: PipelineState, { regions }: Pick<RunContext, 'regions'>): Region[] {
  return [...regions, ...grounded_regions];
}

export function resolveScope(plan: PlannerOutput, boxes: readonly Region[]): Scope {
  const objects = plan.query_scope === GLOBAL ? [] : plan.query_scope;
  const boxOf = new Map(objects.map((object) => [object, boxes.find((region) => isSameObject(region.name, object))]));
  const grounded = objects.flatMap((object) => {
    const region = boxOf.get(object);
    return region ? [{ name: object, box: region.box }] : [];
  });
  const ungrounded = objects.filter((object) => !boxOf.get(object));
  const needsWhole =
    objects.length === 0 ||
    ungrounded.length > 0 ||
    (plan.distortions !== null && Object.hasOwn(plan.distortions, GLOBAL));
  const used = new Set([...boxOf.values()].map((region) => region?.name));
  return {
    regions: needsWhole ? [WHOLE_PICTURE, ...grounded] : grounded,
    ungrounded,
    named:
      plan.distortions === null
        ? null
        : renameKeys(plan.distortions, (object) => (boxOf.get(object) ? object : GLOBAL)),
    unused: boxes.map((region) => region.name).filter((name) => !used.has(name)),
  };
}

/** "the car" asked about and a box called "Car" mean the same. */
function isSameObject(left: string, right: string): boolean {
  const plain = (name: string) =>
    name
      .trim()
      .toLowerCase()
      .replace(/^(the|a|an)\s+/, '');
  return plain(left) === plain(right);
}

function renameKeys(
  named: Record<string, DistortionCategory[]>,
  rename: (object: string) => string,
): Record<string, DistortionCategory[]> {
  const merged = new Map<string, Set<DistortionCategory>>();
  for (const [object, categories] of Object.entries(named)) {
    const key = rename(object);
    merged.set(key, new Set([...(merged.get(key) ?? []), ...categories]));
  }
  return Object.fromEntries([...merged].map(([key, categories]) => [key, [...categories]]));
}
