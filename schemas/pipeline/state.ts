// The state of the graph, as the requirements name it: each stage adds its output; no field holds pixels.
import Type, { type Static } from 'typebox';
import { ExecutorOutput } from './executor.ts';
import { defineModel } from '../validation/model.ts';
import { PlannerOutput } from './planner.ts';
import { SummarizerOutput } from './summarizer.ts';
import { NonBlank } from '../vocabulary.ts';

export const DEFAULT_MAX_REPLAN_ITERATIONS = 2;
export const MAX_HISTORY = 10;

/**
 * Evolution: the caller gives query and paths; the planner adds `plan`; the executor adds `executor_evidence`;
 * the summarizer adds `summarizer_result` and counts. A state that stopped at an earlier stage is valid.
 */
export const AgenticIQAState = defineModel(
  'AgenticIQAState',
  Type.Object(
    {
      query: NonBlank('The question about the image.'),
      image_path: Type.String({ minLength: 1, description: 'Path of the image; never part of a response.' }),
      reference_path: Type.Optional(Type.String({ minLength: 1, description: 'Path of the reference, if given.' })),
      plan: Type.Optional(PlannerOutput),
      executor_evidence: Type.Optional(ExecutorOutput),
      summarizer_result: Type.Optional(SummarizerOutput),
      error: Type.Optional(Type.String({ description: 'The latest error; a new one replaces it.' })),
      iteration_count: Type.Optional(
        Type.Integer({ minimum: 0, description: 'Replans requested so far, starting at 0.' }),
      ),
      max_replan_iterations: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: `Limit of the replanning loop (default ${DEFAULT_MAX_REPLAN_ITERATIONS}). A limit of N allows N − 1 replans; 0 and 1 allow none.`,
        }),
      ),
      replan_history: Type.Optional(
        Type.Array(Type.String(), {
          maxItems: MAX_HISTORY,
          description: `The latest ${MAX_HISTORY} replan requests, "[Iteration 1] reason".`,
        }),
      ),
    },
    { additionalProperties: false, description: 'State of the pipeline.' },
  ),
  {
    examples: [
      {
        query: 'Is the vehicle blurry?',
        image_path: 'photos/street.jpg',
        iteration_count: 0,
        max_replan_iterations: 2,
      },
    ],
  },
);
export type AgenticIQAState = Static<typeof AgenticIQAState>;
