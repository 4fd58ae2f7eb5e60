// The planner's input and output.
import Type, { type Static } from 'typebox';
import { issue, type Issue } from '../validation/explain.ts';
import { defineModel, type RuleContext } from '../validation/model.ts';
import { ByObject, DistortionCategory, GLOBAL, NonBlank, Nullable } from '../vocabulary.ts';

export const PlanControlFlags = defineModel(
  'PlanControlFlags',
  Type.Object(
    {
      distortion_detection: Type.Boolean({ description: 'Look for distortions; false when the query names them.' }),
      distortion_analysis: Type.Boolean({ description: 'Grade each distortion with a severity and an explanation.' }),
      tool_selection: Type.Boolean({
        description: 'Choose an IQA tool for each object and distortion; false when the query names one.',
      }),
      tool_execution: Type.Boolean({ description: 'Run the selected or named tools.' }),
    },
    { additionalProperties: false, description: 'Which subtasks the executor runs.' },
  ),
  { examples: [{ distortion_detection: true, distortion_analysis: true, tool_selection: true, tool_execution: true }] },
);
export type PlanControlFlags = Static<typeof PlanControlFlags>;

export const PlannerOutput = defineModel(
  'PlannerOutput',
  Type.Object(
    {
      query_type: Type.Enum(['IQA', 'Other'], {
        description: 'IQA: about technical quality. Other: emotion, style, beauty and the like.',
      }),
      query_scope: Type.Union(
        [
          Type.Array(NonBlank('An object or region of the image, as named in the query.'), { minItems: 1 }),
          Type.Literal(GLOBAL),
        ],
        { description: 'The objects in question, or "Global" for the whole image.' },
      ),
      distortion_source: Type.Enum(['Explicit', 'Inferred'], {
        description: 'Explicit: the query names distortions. Inferred: they must be detected.',
      }),
      distortions: Nullable(
        ByObject(Type.Array(DistortionCategory), 'Object name or "Global" → categories.'),
        'The distortions named in the query by object, or null.',
      ),
      reference_mode: Type.Enum(['Full-Reference', 'No-Reference'], {
        description: 'Full-Reference when a reference image was given.',
      }),
      required_tool: Nullable(
        Type.String({ pattern: '\\S' }),
        'Registry name of the tool that the query names, or null.',
      ),
      plan: PlanControlFlags,
    },
    {
      additionalProperties: false,
      description: 'The plan: type and scope of the query, and the subtasks that answer it.',
    },
  ),
  {
    check: ({ required_tool }, { knownTools }) =>
      knownTools && required_tool !== null && !knownTools.has(required_tool)
        ? [issue('/required_tool', 'a tool of the registry', required_tool)]
        : [],
    examples: [
      {
        query_type: 'IQA',
        query_scope: ['vehicle'],
        distortion_source: 'Explicit',
        distortions: { vehicle: ['Blurs'] },
        reference_mode: 'No-Reference',
        required_tool: null,
        plan: { distortion_detection: false, distortion_analysis: true, tool_selection: false, tool_execution: false },
      },
      {
        query_type: 'IQA',
        query_scope: 'Global',
        distortion_source: 'Inferred',
        distortions: null,
        reference_mode: 'Full-Reference',
        required_tool: 'SSIM',
        plan: { distortion_detection: true, distortion_analysis: true, tool_selection: false, tool_execution: true },
      },
    ],
  },
);
export type PlannerOutput = Static<typeof PlannerOutput>;

export const PlannerInput = defineModel(
  'PlannerInput',
  Type.Object(
    {
      query: NonBlank('The question about the image.'),
      image_path: Type.String({ minLength: 1, description: 'Path of the image file.' }),
      reference_path: Nullable(Type.String({ minLength: 1 }), 'Path of the pristine reference image, or null.'),
      prior_context: Nullable(
        Type.Record(Type.String(), Type.Unknown()),
        'Results of earlier turns of the conversation, or null.',
      ),
    },
    { additionalProperties: false, description: 'Input of the planner.' },
  ),
  {
    check: checkPaths,
    examples: [
      { query: 'Is the vehicle blurry?', image_path: 'photos/street.jpg', reference_path: null, prior_context: null },
    ],
  },
);
export type PlannerInput = Static<typeof PlannerInput>;

function checkPaths(input: { image_path: string; reference_path: string | null }, context: RuleContext): Issue[] {
  const check = context.checkImagePath;
  if (!check) return [];
  const issues: Issue[] = [];
  for (const field of ['image_path', 'reference_path'] as const) {
    const path = input[field];
    const message = path === null ? null : check(path);
    if (message !== null) issues.push(issue(`/${field}`, 'a readable image file', path, message));
  }
  return issues;
}
