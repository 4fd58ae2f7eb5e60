// Schema and validation of the planner's reply, and the plan that follows from it by rule.
import Type, { type Static, type TSchema } from 'typebox';
import { explain, issue } from '../../../../schemas/validation/explain.ts';
import { ValidationError } from '../../../../schemas/validation/model.ts';
import { PlanControlFlags, type PlannerOutput } from '../../../../schemas/pipeline/planner.ts';
import { DISTORTION_CATEGORIES, DistortionCategory, GLOBAL, NonBlank, OrNull } from '../../../../schemas/vocabulary.ts';
import { derivePlan, type PlanSituation } from '../../../pipeline/rules/plan.ts';
import { mergeDistortions } from '../../../pipeline/rules/scope.ts';
import type { ToolRegistry } from '../../../tools/registry.ts';
import {
  toEntryList,
  canonicalValue,
  canonicalTool,
  CATEGORY_SYNONYMS,
  mapRecords,
  type OnRepair,
} from '../normalize-reply.ts';

const MAX_OBJECTS = 16;

const PlanReply = Type.Object(
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

/** The provider's schema: lists the tools, so that no other can be named. */
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

/** Flags, distortion source and reference mode are not taken from the reply: they follow from the rest by the paper's rules. */
export function readPlan(
  value: Record<string, unknown>,
  registry: ToolRegistry,
  situation: PlanSituation,
  onRepair: OnRepair,
): PlannerOutput {
  const draft = normalizePlan(value, registry, onRepair);
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
      distortions: reply.distortions ? mergeByObject(reply.distortions, objects) : null,
      tool: tool?.name ?? null,
    },
    situation,
  );
  if (reply.plan && JSON.stringify(reply.plan) !== JSON.stringify(plan.plan))
    onRepair('flags derived by rule, not taken from the model');
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

function normalizePlan(
  value: Record<string, unknown>,
  registry: ToolRegistry,
  onRepair: OnRepair,
): Record<string, unknown> {
  const scope = value['query_scope'];
  const source = value['distortion_source'];
  const mode = value['reference_mode'];
  const tool = value['required_tool'];
  const isNoTool = typeof tool === 'string' && NO_TOOL.includes(tool.trim().toLowerCase());
  if (isNoTool) onRepair(`"${tool}" read as no tool`);
  if (typeof scope === 'string') onRepair('query_scope given as one word');
  const distortions = toEntryList(
    value['distortions'],
    'distortions',
    (object, categories) => [{ object, categories }],
    onRepair,
  );
  return {
    ...value,
    query_type: canonicalValue(value['query_type'], ['IQA', 'Other'], {}, onRepair),
    query_scope: typeof scope === 'string' ? [scope] : scope,
    ...(value['distortions'] === undefined
      ? {}
      : {
          distortions: mapRecords(distortions, (entry) => ({
            ...entry,
            categories: Array.isArray(entry['categories'])
              ? entry['categories'].map((word: unknown) =>
                  canonicalValue(word, DISTORTION_CATEGORIES, CATEGORY_SYNONYMS, onRepair),
                )
              : entry['categories'],
          })),
        }),
    ...(source === undefined
      ? {}
      : { distortion_source: canonicalValue(source, ['Explicit', 'Inferred'], {}, onRepair) }),
    ...(mode === undefined
      ? {}
      : { reference_mode: canonicalValue(mode, ['Full-Reference', 'No-Reference'], REFERENCE_SYNONYMS, onRepair) }),
    ...(tool === undefined
      ? {}
      : { required_tool: isNoTool ? null : canonicalTool(tool, [...registry.names], registry, onRepair) }),
  };
}

/** Distortions of an object outside the scope count for the whole image. */
function mergeByObject(entries: NonNullable<PlanReply['distortions']>, objects: readonly string[]) {
  return mergeDistortions(
    entries.map(({ object, categories }) => [object, categories]),
    (object) => objects.find((candidate) => candidate.toLowerCase() === object.toLowerCase()) ?? GLOBAL,
  );
}
