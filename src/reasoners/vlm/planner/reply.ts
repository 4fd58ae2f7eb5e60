// What the planner's model may say, and the plan that follows from it by rule.
import Type, { type Static, type TSchema } from 'typebox';
import { explain, issue } from '../../../../schemas/validation/explain.ts';
import { ValidationError } from '../../../../schemas/validation/model.ts';
import { PlanControlFlags, type PlannerOutput } from '../../../../schemas/pipeline/planner.ts';
import { DISTORTION_CATEGORIES, DistortionCategory, GLOBAL, NonBlank, OrNull } from '../../../../schemas/vocabulary.ts';
import { derivePlan, type PlanSituation } from '../../../pipeline/rules/plan.ts';
import type { ToolRegistry } from '../../../tools/registry.ts';
import {
  asEntries,
  canonical,
  canonicalTool,
  CATEGORY_SYNONYMS,
  mapRecords,
  type Repaired,
} from '../normalize-reply.ts';

const MAX_OBJECTS = 16;

export const PlanReply = Type.Object(
  {
    query_type: Type.Enum(['IQA', 'Other']),
    query_scope: Type.Array(NonBlank('An object in the question\'s words, or "Global".', { maxLength: 200 }), {
      maxItems: MAX_OBJECTS,
    }),
    distortion_source: Type.Optional(Type.Enum(['Explicit', 'Inferred'])),
    distortions: Type.Optional(
      OrNull(
        Type.Array(
          Type.Object({
            object: NonBlank('An object of the scope, or "Global".'),
            categories: Type.Array(DistortionCategory),
          }),
        ),
        'What the question names, or null.',
      ),
    ),
    reference_mode: Type.Optional(Type.Enum(['Full-Reference', 'No-Reference'])),
    required_tool: Type.Optional(OrNull(Type.String(), 'A listed tool that the question names, or null.')),
    plan: Type.Optional(Type.Object(PlanControlFlags.properties)),
  },
  { description: 'The plan.' },
);
type PlanReply = Static<typeof PlanReply>;

/** As a provider gets it: with the tools that there are, so that no other can be named. */
export const planSchema = (tools: readonly string[]): TSchema =>
  tools.length === 0
    ? PlanReply
    : Type.Object(
        {
          ...PlanReply.properties,
          required_tool: OrNull(Type.Enum([...tools]), 'A listed tool that the question names, or null.'),
        },
        { description: 'The plan.' },
      );

/** Flags, source and reference mode are never taken over: they follow from the rest by the paper's rules. */
export function readPlan(
  value: Record<string, unknown>,
  registry: ToolRegistry,
  situation: PlanSituation,
  repaired: Repaired,
): PlannerOutput {
  const draft = mend(value, registry, repaired);
  const issues = explain(PlanReply, draft);
  if (issues.length > 0) throw new ValidationError('planner answer', issues);
  const reply = draft as PlanReply;
  const objects = reply.query_scope;
  const tool = reply.required_tool ? registry.find(reply.required_tool) : undefined;
  if (reply.required_tool && !tool)
    throw new ValidationError('planner answer', [
      issue('/required_tool', `one of ${[...registry.names].join(', ')} or null`, reply.required_tool),
    ]);
  const plan = derivePlan(
    {
      queryType: reply.query_type,
      objects,
      distortions: reply.distortions ? byObject(reply.distortions, objects) : null,
      tool: tool?.name ?? null,
    },
    situation,
  );
  if (reply.plan && JSON.stringify(reply.plan) !== JSON.stringify(plan.plan))
    repaired('flags derived by rule, not as the model set them');
  return plan;
}

/** Words for "no tool was named". */
const NO_TOOL = ['', 'none', 'null', 'n/a'];
const REFERENCE_SYNONYMS = {
  'no reference': 'No-Reference',
  nr: 'No-Reference',
  'full reference': 'Full-Reference',
  fr: 'Full-Reference',
};

function mend(value: Record<string, unknown>, registry: ToolRegistry, repaired: Repaired): Record<string, unknown> {
  const scope = value['query_scope'];
  const source = value['distortion_source'];
  const mode = value['reference_mode'];
  const tool = value['required_tool'];
  const isNoTool = typeof tool === 'string' && NO_TOOL.includes(tool.trim().toLowerCase());
  if (isNoTool) repaired(`"${tool}" read as no tool`);
  if (typeof scope === 'string') repaired('query_scope given as one word');
  const distortions = asEntries(
    value['distortions'],
    'distortions',
    (object, categories) => [{ object, categories }],
    repaired,
  );
  return {
    ...value,
    query_type: canonical(value['query_type'], ['IQA', 'Other'], {}, repaired),
    query_scope: typeof scope === 'string' ? [scope] : scope,
    ...(value['distortions'] === undefined
      ? {}
      : {
          distortions: mapRecords(distortions, (entry) => ({
            ...entry,
            categories: Array.isArray(entry['categories'])
              ? entry['categories'].map((word: unknown) =>
                  canonical(word, DISTORTION_CATEGORIES, CATEGORY_SYNONYMS, repaired),
                )
              : entry['categories'],
          })),
        }),
    ...(source === undefined ? {} : { distortion_source: canonical(source, ['Explicit', 'Inferred'], {}, repaired) }),
    ...(mode === undefined
      ? {}
      : { reference_mode: canonical(mode, ['Full-Reference', 'No-Reference'], REFERENCE_SYNONYMS, repaired) }),
    ...(tool === undefined
      ? {}
      : { required_tool: isNoTool ? null : canonicalTool(tool, [...registry.names], registry, repaired) }),
  };
}

/** Distortions of an object that is not in the scope are about the whole. */
function byObject(
  entries: NonNullable<PlanReply['distortions']>,
  objects: readonly string[],
): Record<string, DistortionCategory[]> {
  const merged = new Map<string, DistortionCategory[]>();
  for (const { object, categories } of entries) {
    const name = objects.find((candidate) => candidate.toLowerCase() === object.toLowerCase()) ?? GLOBAL;
    merged.set(name, [...(merged.get(name) ?? []), ...categories]);
  }
  return Object.fromEntries(merged);
}
