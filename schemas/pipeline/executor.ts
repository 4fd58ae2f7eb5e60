// The executor's output: the evidence, and the log of every tool execution.
import Type, { type Static, type TSchema } from 'typebox';
import { issue, escapePointer, type Issue } from '../validation/explain.ts';
import { defineModel, type RuleContext } from '../validation/model.ts';
import {
  ByCategory,
  ByObject,
  DistortionCategory,
  GLOBAL,
  NonBlank,
  Nullable,
  Score,
  Severity,
  Timestamp,
} from '../vocabulary.ts';

export const DistortionAnalysis = defineModel(
  'DistortionAnalysis',
  Type.Object(
    { type: DistortionCategory, severity: Severity, explanation: NonBlank('Explanation that quotes the evidence.') },
    { additionalProperties: false, description: 'Severity of one distortion, with an explanation.' },
  ),
  {
    examples: [
      { type: 'Blurs', severity: 'moderate', explanation: 'Edges are 4.1 pixels wide; in sharp photos 1.5 to 2.6.' },
    ],
  },
);
export type DistortionAnalysis = Static<typeof DistortionAnalysis>;

const EXAMPLE_LOG = {
  tool_name: 'NIQE',
  object_name: GLOBAL,
  distortion: 'Noise',
  raw_score: 3.42,
  normalized_score: 4.1,
  execution_time: 0.021,
  fallback: false,
  error: null,
  timestamp: '2026-11-17T08:00:00.000Z',
};

export const ToolExecutionLog = defineModel(
  'ToolExecutionLog',
  Type.Object(
    {
      tool_name: NonBlank('Registry name of the tool.'),
      object_name: NonBlank('Object of the query scope, or "Global".'),
      distortion: NonBlank('The distortion it was run for.'),
      raw_score: Nullable(Type.Number(), "The tool's raw value; null if it failed."),
      normalized_score: Nullable(
        Score('On the common scale.'),
        'The value on the common scale, 1 (bad) to 5 (excellent); null if it failed.',
      ),
      execution_time: Type.Number({ minimum: 0, description: 'Run time in seconds; 0 if the result was cached.' }),
      fallback: Type.Boolean({ default: false, description: 'Whether it ran in place of a tool that failed.' }),
      error: Nullable(Type.String(), 'Why it failed, or null.'),
      timestamp: Timestamp('Time at which it ended.'),
    },
    { additionalProperties: false, description: 'One execution of one tool.' },
  ),
  { examples: [EXAMPLE_LOG] },
);
export type ToolExecutionLog = Static<typeof ToolExecutionLog>;

/** Draft 2020-12 describes a tuple with prefixItems, which Type.Tuple does not emit. */
const ToolAndScore = Type.Unsafe<[tool: string, score: number]>({
  type: 'array',
  prefixItems: [
    { type: 'string', pattern: '\\S', description: 'Tool name.' },
    { type: 'number', minimum: 1, maximum: 5, description: 'Score, 1 to 5.' },
  ],
  items: false,
  minItems: 2,
  maxItems: 2,
});

const Evidence = <T extends TSchema>(schema: T, description: string) =>
  Nullable(ByObject(schema, 'By object name or "Global".'), description);

export const ExecutorOutput = defineModel(
  'ExecutorOutput',
  Type.Object(
    {
      distortion_set: Evidence(Type.Array(DistortionCategory), 'Detected distortions by object, or null.'),
      distortion_analysis: Evidence(
        Type.Array(DistortionAnalysis),
        'Severity and explanation of each distortion by object, or null.',
      ),
      selected_tools: Evidence(
        ByCategory(NonBlank('Tool name.'), 'By distortion.'),
        'The tool chosen for each object and distortion, or null.',
      ),
      quality_scores: Evidence(
        ByCategory(ToolAndScore, 'By distortion.'),
        '[tool, score] of the lead tool for each object and distortion, or null.',
      ),
      tool_logs: Type.Array(ToolExecutionLog, { default: [], description: 'Every execution, failed ones included.' }),
    },
    { additionalProperties: false, description: 'The evidence. A subtask that was not requested, or failed, is null.' },
  ),
  {
    check: (output, context) => [...checkObjects(output, context), ...checkTools(output, context)],
    examples: [
      {
        distortion_set: { Global: ['Noise'] },
        distortion_analysis: {
          Global: [
            {
              type: 'Noise',
              severity: 'slight',
              explanation: 'The noise in smooth areas is 3.1 of 255 brightness levels.',
            },
          ],
        },
        selected_tools: { Global: { Noise: 'NIQE' } },
        quality_scores: { Global: { Noise: ['NIQE', 4.1] } },
        tool_logs: [EXAMPLE_LOG],
      },
    ],
  },
);
export type ExecutorOutput = Static<typeof ExecutorOutput>;

const KEYED_BY_OBJECT = ['distortion_set', 'distortion_analysis', 'selected_tools', 'quality_scores'] as const;

function checkObjects(
  output: Record<(typeof KEYED_BY_OBJECT)[number], object | null>,
  { objects }: RuleContext,
): Issue[] {
  if (!objects) return [];
  const allowed = new Set([GLOBAL, ...objects]);
  return KEYED_BY_OBJECT.flatMap((field) =>
    Object.keys(output[field] ?? {})
      .filter((key) => !allowed.has(key))
      .map((key) =>
        issue(`/${field}/${escapePointer(key)}`, `an object of the query scope (${[...allowed].join(', ')})`, key),
      ),
  );
}

function checkTools(
  output: { selected_tools: Record<string, Record<string, string>> | null },
  { knownTools }: RuleContext,
): Issue[] {
  if (!knownTools) return [];
  return Object.entries(output.selected_tools ?? {}).flatMap(([object, tools]) =>
    Object.entries(tools)
      .filter(([, tool]) => !knownTools.has(tool))
      .map(([distortion, tool]) =>
        issue(`/selected_tools/${escapePointer(object)}/${distortion}`, 'a tool of the registry', tool),
      ),
  );
}
