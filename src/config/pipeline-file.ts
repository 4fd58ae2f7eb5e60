// The schema of configs/pipeline.yaml.
import Type, { type Static } from 'typebox';
import { MAX_REPLAN_LIMIT } from '../../schemas/requests/assess.ts';
import { defineModel } from '../../schemas/validation/model.ts';
import { CheckpointSection } from '../checkpoints/settings.ts';

const Milliseconds = Type.Integer({ minimum: 1 });

const ByReference = (limits: { minimum: number; maximum?: number }) =>
  Type.Object(
    { with_reference: Type.Number(limits), without_reference: Type.Number(limits) },
    { additionalProperties: false },
  );

export const LICENCES = ['permissive', 'research', 'any'] as const;

export const PipelineFile = defineModel(
  'configs/pipeline.yaml',
  Type.Object(
    {
      timeouts_ms: Type.Object(
        {
          request: Milliseconds,
          planner: Milliseconds,
          executor: Milliseconds,
          summarizer: Milliseconds,
          tool: Type.Integer({ minimum: 100, maximum: 600_000 }),
          upload: Milliseconds,
          upload_idle: Milliseconds,
        },
        { additionalProperties: false },
      ),
      // Three steps a round; the largest limit of a request must fit.
      replanning: Type.Object(
        { recursion_limit: Type.Integer({ minimum: 3 * MAX_REPLAN_LIMIT + 2 }) },
        { additionalProperties: false },
      ),
      admission: Type.Object(
        {
          running: Type.Integer({ minimum: 1 }),
          model: Type.Integer({ minimum: 0 }),
          waiting: Type.Integer({ minimum: 0 }),
        },
        { additionalProperties: false },
      ),
      comparison: Type.Object(
        {
          decided_at: Type.Number({ minimum: 0.5, maximum: 1 }),
          spread: ByReference({ minimum: 0 }),
          shared_error: ByReference({ minimum: 0, maximum: 1 }),
        },
        { additionalProperties: false },
      ),
      fusion: Type.Object({ eta: Type.Number({ minimum: 0 }) }, { additionalProperties: false }),
      cache: Type.Object({ entries: Type.Integer({ minimum: 1 }) }, { additionalProperties: false }),
      sidecar: Type.Object(
        { workers: Type.Integer({ minimum: 0 }), queue: Type.Integer({ minimum: 1 }) },
        { additionalProperties: false },
      ),
      licences: Type.Enum([...LICENCES]),
      checkpoints: CheckpointSection,
    },
    { additionalProperties: false },
  ),
);
export type PipelineConfig = Static<typeof PipelineFile>;
/** Which tools exist: `permissive`, also those fitted on ratings for research, or `any`, also those for non-commercial use. */
export type Licences = PipelineConfig['licences'];
