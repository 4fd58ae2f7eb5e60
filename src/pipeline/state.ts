// The graph's channels: the published state plus what the response's diagnostics need. All plain JSON, so that it can be stored.
import { ReducedValue, StateSchema, type StateSchemaField } from '@langchain/langgraph/web';
import type { Logger } from 'pino';
import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Region } from '../../schemas/requests/assess.ts';
import { Finding, QualityScore, ToolDiagnostic } from '../../schemas/responses/assessment.ts';
import { AgenticIQAState } from '../../schemas/pipeline/state.ts';
import type { ErrorCode } from '../errors.ts';
import { Carried } from './rules/usage-totals.ts';
import { createHistoryReducer } from './rules/replanning.ts';

const { properties } = AgenticIQAState;

const Failure = Type.Object({ code: Type.Unsafe<ErrorCode>(Type.String()), message: Type.String() });
export type Failure = Static<typeof Failure>;

/** A channel without a reducer holds the last value: plan, evidence, result and error are replaced whole. */
export function createPipelineState(log: Pick<Logger, 'warn'>) {
  return new StateSchema({
    query: channel(properties.query),
    image_path: channel(properties.image_path),
    reference_path: channel(properties.reference_path),
    plan: channel(properties.plan),
    executor_evidence: channel(properties.executor_evidence),
    summarizer_result: channel(properties.summarizer_result),
    error: channel(properties.error),
    iteration_count: channel(properties.iteration_count),
    max_replan_iterations: channel(properties.max_replan_iterations),
    replan_history: new ReducedValue(channel(Type.Array(Type.String()), []), { reducer: createHistoryReducer(log) }),
    plan_confidence: channel(Type.Union([Type.Number(), Type.Null()])),
    findings: channel(Type.Array(Finding)),
    grounded_regions: channel(Type.Array(Region)),
    tool_diagnostics: channel(Type.Array(ToolDiagnostic)),
    notes: channel(Type.Array(Type.String())),
    quality_score: channel(Type.Union([QualityScore, Type.Null()])),
    failure: channel(Failure),
    carried: channel(Carried),
  });
}

type PipelineStateSchema = ReturnType<typeof createPipelineState>;
/** Channels that no node has written yet are absent. */
export type PipelineState = Partial<PipelineStateSchema['State']> &
  Pick<PipelineStateSchema['State'], 'query' | 'image_path'>;
export type PipelineUpdate = Partial<PipelineStateSchema['Update']>;

type Channel<T> = Extract<StateSchemaField<T, T>, { '~standard': unknown }>;

/** LangGraph takes any "standard schema"; this makes one of TypeBox's, so that there is no second schema language. */
function channel<S extends TSchema>(schema: S, initial?: Static<S>): Channel<Static<S>> {
  const validator = Compile(schema);
  const document = schema as unknown as Record<string, unknown>;
  return {
    '~standard': {
      version: 1,
      vendor: 'typebox',
      validate: (value = initial) =>
        validator.Check(value)
          ? { value: value }
          : { issues: [{ message: validator.Errors(value)[0]?.message ?? 'invalid' }] },
      jsonSchema: { input: () => document, output: () => document },
    },
  };
}
