// The graph's channels: the published state, and what later stages and the response's diagnostics need. Plain JSON, so that it can be stored.
import { ReducedValue, StateSchema, type StateSchemaField } from '@langchain/langgraph/web';
import type { FastifyBaseLogger } from 'fastify';
import type { Region } from '../../schemas/requests/assess.ts';
import type { Finding, QualityScore, ToolDiagnostic } from '../../schemas/responses/assessment.ts';
import type { AgenticIQAState } from '../../schemas/pipeline/state.ts';
import type { ErrorCode } from '../errors.ts';
import type { ReplanRequest } from './rules/gaps.ts';
import { createHistoryReducer } from './rules/replanning.ts';
import type { Scope } from './rules/scope.ts';
import type { UsageTotals } from './rules/usage-totals.ts';

type Published = Required<AgenticIQAState>;

/** A channel without a reducer keeps the last value: plan, evidence, result and error are replaced whole. */
export function createPipelineState(log: Pick<FastifyBaseLogger, 'warn'>) {
  return new StateSchema({
    query: channel<Published['query']>(),
    image_path: channel<Published['image_path']>(),
    reference_path: channel<Published['reference_path']>(),
    plan: channel<Published['plan']>(),
    executor_evidence: channel<Published['executor_evidence']>(),
    summarizer_result: channel<Published['summarizer_result']>(),
    error: channel<Published['error']>(),
    iteration_count: channel<Published['iteration_count']>(),
    max_replan_iterations: channel<Published['max_replan_iterations']>(),
    replan_history: new ReducedValue(channel<string[]>([]), { reducer: createHistoryReducer(log) }),
    plan_confidence: channel<number | null>(),
    scope: channel<Scope>(),
    findings: channel<Finding[]>(),
    grounded_regions: channel<Region[]>(),
    tool_diagnostics: channel<ToolDiagnostic[]>(),
    notes: channel<string[]>(),
    quality_score: channel<QualityScore | null>(),
    replan_request: channel<ReplanRequest | null>(),
    failure: channel<{ code: ErrorCode; message: string }>(),
    usage_totals: channel<UsageTotals>(),
  });
}

type PipelineStateSchema = ReturnType<typeof createPipelineState>;
/** Channels that no node has written yet are absent. */
export type PipelineState = Partial<PipelineStateSchema['State']> &
  Pick<PipelineStateSchema['State'], 'query' | 'image_path'>;
export type PipelineUpdate = Partial<PipelineStateSchema['Update']>;

type Channel<T> = Extract<StateSchemaField<T, T>, { '~standard': unknown }>;

/** LangGraph wants a "standard schema". This one accepts any value: the nodes validate what they write. */
function channel<T>(initial?: T): Channel<T> {
  return {
    '~standard': {
      version: 1,
      vendor: 'agentic-iqa',
      validate: (value = initial) => ({ value: value as T }),
      jsonSchema: { input: () => ({}), output: () => ({}) },
    },
  };
}
