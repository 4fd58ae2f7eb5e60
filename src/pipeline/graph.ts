// The wiring, and nothing else: planner → executor → summarizer → planner again, or the end.
// The entry without AsyncLocalStorage: our nodes get all they need as parameters, and a run costs 2 ms less.
import { END, START, StateGraph } from '@langchain/langgraph/web';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import type { Logger } from 'pino';
import type { PipelineConfig } from '../config/config.ts';
import { execute } from './nodes/executor.ts';
import { plan } from './nodes/planner.ts';
import { decideNextNode } from './rules/replanning.ts';
import { createStage, runOf } from './stage.ts';
import { createPipelineState } from './state.ts';
import { createSummarizer } from './nodes/summarizer.ts';

export type PipelineGraph = ReturnType<typeof buildGraph>;

export function buildGraph(config: PipelineConfig, log: Logger, checkpointer?: BaseCheckpointSaver) {
  return startGraph(config, log)
    .addNode(
      'summarizer',
      createStage(
        {
          name: 'summarizer',
          timeoutMs: config.timeouts_ms.summarizer,
          outputOf: (update) => update.summarizer_result,
        },
        createSummarizer(config.fusion.eta),
      ),
    )
    .addEdge('executor', 'summarizer')
    .addConditionalEdges('summarizer', (state, options) => decideNextNode(state, runOf(options).log), {
      planner: 'planner',
      __end__: END,
    })
    .compile(checkpointer ? { checkpointer } : {});
}

/** The variant that stops at the evidence: no summarizer, no replanning. */
export function buildEvidenceGraph(config: PipelineConfig, log: Logger) {
  return startGraph(config, log).addEdge('executor', END).compile();
}

function startGraph({ timeouts_ms }: PipelineConfig, log: Logger) {
  return new StateGraph(createPipelineState(log))
    .addNode(
      'planner',
      createStage({ name: 'planner', timeoutMs: timeouts_ms.planner, outputOf: (update) => update.plan }, plan),
    )
    .addNode(
      'executor',
      createStage(
        {
          name: 'executor',
          timeoutMs: timeouts_ms.executor,
          reserveMs: timeouts_ms.summarizer,
          outputOf: (update) => update.executor_evidence,
        },
        execute,
      ),
    )
    .addEdge(START, 'planner')
    .addEdge('planner', 'executor');
}
