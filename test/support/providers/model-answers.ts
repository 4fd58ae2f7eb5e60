// Answers that a well-behaved model would give, as the provider double says them.
import type { JsonSchema, SeenRequest, Step } from './provider-double.ts';

export const GLOBAL_PLAN_ANSWER = {
  query_type: 'IQA',
  query_scope: ['Global'],
  distortion_source: 'Inferred',
  distortions: null,
  reference_mode: 'No-Reference',
  required_tool: null,
  plan: { distortion_detection: true, distortion_analysis: true, tool_selection: true, tool_execution: true },
};

export const MERGED_ANSWER = {
  distortion_set: [{ object: 'Global', distortions: ['Noise'] }],
  distortion_analysis: [
    { object: 'Global', type: 'Noise', severity: 'slight', explanation: 'Fine grain in the sky.', confidence: 0.8 },
  ],
  selected_tools: [{ object: 'Global', distortion: 'Noise', tool: 'NIQE' }],
};

export const LEVELS_ANSWER = {
  final_answer: 'Good',
  quality_reasoning: 'Slight noise only; NIQE agrees.',
  need_replan: false,
  replan_reason: null,
};

/** Answers from the schema alone, as a model that keeps to it would: the first allowed word, one item a list. */
export function answerFromSchema({ schema }: SeenRequest): Step {
  return { say: schema ? fill(schema) : {} };
}

function fill(schema: JsonSchema): unknown {
  if (schema.anyOf) return fill(schema.anyOf.find((branch) => branch.type === 'null') ?? schema.anyOf[0] ?? {});
  if (schema.enum) return schema.enum[0];
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, child]) => [name, fill(child)]));
    case 'array':
      return [fill(schema.items ?? {})];
    case 'null':
      return null;
    case 'boolean':
      return false;
    case 'number':
    case 'integer':
      return 0.2;
    default:
      return 'Plainly visible.';
  }
}
