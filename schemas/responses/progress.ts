// The events of a streamed assessment, one schema per event name; the last event is `result` or `error`.
import Type, { type Static } from 'typebox';
import type { Assessment } from './assessment.ts';
import { ExecutorOutput } from '../pipeline/executor.ts';
import { PlannerOutput } from '../pipeline/planner.ts';
import type { Problem } from './problem.ts';
import { SummarizerOutput } from '../pipeline/summarizer.ts';
import { NonBlank, OrNull, Score } from '../vocabulary.ts';

const closed = { additionalProperties: false } as const;

export const AcceptedEvent = Type.Object(
  {
    id: Type.String({ description: 'Identifier of the assessment.' }),
    request_id: Type.String({ description: 'Also in the X-Request-Id header and in the logs.' }),
  },
  { ...closed, description: 'The images are readable and the run starts.' },
);

const STAGES = ['planner', 'executor', 'summarizer'] as const;
export type StageName = (typeof STAGES)[number];

export const StageEvent = Type.Object(
  {
    stage: Type.Enum([...STAGES], { description: 'Node of the pipeline.' }),
    status: Type.Enum(['started', 'finished'], { description: 'Whether it started or finished.' }),
    iteration: Type.Integer({ minimum: 0, description: 'Replans requested so far.' }),
    elapsed_ms: OrNull(Type.Number({ minimum: 0 }), 'Duration of the stage, once it has finished.'),
    output: OrNull(
      Type.Union([PlannerOutput, ExecutorOutput, SummarizerOutput]),
      'Its output (plan, evidence or verdict); null when it starts or fails.',
    ),
  },
  { ...closed, description: 'A stage of the pipeline started or finished.' },
);

export const ToolProgressEvent = Type.Object(
  {
    tool_name: NonBlank('Registry name.'),
    object_name: NonBlank('Object, or "Global".'),
    raw_score: OrNull(Type.Number(), "The tool's own value, or null when it failed."),
    normalized_score: OrNull(Score(''), 'On the common scale.'),
    cached: Type.Boolean({ description: 'Whether the value came from the cache.' }),
    error: OrNull(Type.String(), 'Why it failed, or null.'),
  },
  { ...closed, description: 'A tool has run, or its value was in the cache.' },
);

export type ProgressEvent =
  | { event: 'accepted'; data: Static<typeof AcceptedEvent> }
  | { event: 'stage'; data: Static<typeof StageEvent> }
  | { event: 'tool'; data: Static<typeof ToolProgressEvent> };
export type LastEvent = { event: 'result'; data: Assessment } | { event: 'error'; data: Problem };

/** Event names in order, with their descriptions in the documentation. */
export const STREAM_EVENTS = {
  accepted: 'the images are readable and the run starts',
  stage: 'planner, executor or summarizer started, or finished with its output',
  tool: 'a tool has run, or its value was in the cache',
  result: 'the assessment',
  error: 'a problem',
} as const satisfies Record<(ProgressEvent | LastEvent)['event'], string>;
