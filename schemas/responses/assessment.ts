// The answer of POST /assess: the final state, the fused score, what it rests on. Every key is always present.
import Type, { type Static } from 'typebox';
import { ExecutorOutput } from '../pipeline/executor.ts';
import { defineModel } from '../validation/model.ts';
import { PlannerOutput } from '../pipeline/planner.ts';
import { SummarizerOutput } from '../pipeline/summarizer.ts';
import { DistortionCategory, Level, LEVELS, NonBlank, OrNull, Score, Severity, Timestamp } from '../vocabulary.ts';

const closed = { additionalProperties: false } as const;

export const ImageInfo = Type.Object(
  {
    sha256: Type.String({ description: 'Of the uploaded bytes.' }),
    width: Type.Integer({ description: 'Pixels, upright.' }),
    height: Type.Integer({ description: 'Pixels, upright.' }),
    format: Type.String({ description: 'Found in the bytes: jpeg, png, webp, …' }),
    bytes: Type.Integer({ description: 'Size of the upload.' }),
    notes: Type.Array(Type.String(), {
      description: 'What was changed before measuring: orientation, profile, alpha, resize.',
    }),
  },
  { ...closed, description: 'The image as received.' },
);
export type ImageInfo = Static<typeof ImageInfo>;

function perLevel(description: string) {
  const shares = LEVELS.map((level) => [
    level,
    Type.Number({ minimum: 0, maximum: 1, description: `Share of ${level}.` }),
  ]);
  return Type.Object(Object.fromEntries(shares) as Record<Level, ReturnType<typeof Type.Number>>, {
    ...closed,
    description,
  });
}

export const FUSION_METHODS = [
  'logprobs',
  'declared',
  'classification',
  'distribution',
  'tools_only',
  'reasoner_only',
] as const;

export const QualityScore = Type.Object(
  {
    value: Score('The fused score, 1 (bad) to 5 (excellent).'),
    level: Level,
    interval: OrNull(
      Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }),
      '80 % interval of the score, or null where none is known.',
    ),
    method: Type.Enum([...FUSION_METHODS], {
      description: "Where the reasoner's probabilities come from; tools_only when it gave none.",
    }),
    tool_mean: OrNull(
      Score('Mean of the distinct lead tools.'),
      'Mean score of the distinct lead tools, or null without one.',
    ),
    weights: perLevel('α: how well each level agrees with the tools.'),
    probabilities: perLevel("p: the reasoner's probability of each level; equal when it gave none."),
  },
  { ...closed, description: 'One number for the whole answer.' },
);
export type QualityScore = Static<typeof QualityScore>;

export const PLACES = [
  'all over',
  'upper left',
  'top',
  'upper right',
  'left',
  'centre',
  'right',
  'lower left',
  'bottom',
  'lower right',
  'edges',
  'several places',
] as const;

export const Place = Type.Object(
  {
    where: Type.Enum([...PLACES], { description: 'Where it is strongest, in the object or picture it was found in.' }),
    grid: Type.Array(Type.Number({ minimum: 0, maximum: 1 }), {
      minItems: 9,
      maxItems: 9,
      description: 'How bad each ninth is, row by row from the upper left: 0 nothing, 1 as bad as the map can say.',
    }),
    map: NonBlank('The local map it was read from.'),
  },
  { ...closed, description: 'Where in the picture.' },
);
export type Place = Static<typeof Place>;

export const Finding = Type.Object(
  {
    object_name: NonBlank('Object, or "Global".'),
    distortion: DistortionCategory,
    severity: Severity,
    strength: OrNull(
      Type.Number({ minimum: 0, maximum: 5 }),
      'The same on a continuous scale: slight from 1, moderate from 2, severe from 3, extreme from 4; null where the reasoner gives none.',
    ),
    confidence: OrNull(
      Type.Number({ minimum: 0, maximum: 1 }),
      'How sure the reasoner is of it, or null where it did not say.',
    ),
    measurements: Type.Record(Type.String(), Type.Union([Type.Number(), Type.Null()]), {
      description: 'The measurements it rests on.',
    }),
    sides: Type.Record(Type.String(), Severity, {
      description: 'How severe each side of it is, where sides are told apart: underexposure and overexposure, …',
    }),
    place: OrNull(Place, 'Where it is strongest, for questions whose answer says so; null where no map shows it.'),
  },
  { ...closed, description: 'A distortion that was looked at.' },
);
export type Finding = Static<typeof Finding>;

export const ToolDiagnostic = Type.Object(
  {
    tool_name: NonBlank('Registry name.'),
    version: Type.String({ description: 'Version of the implementation.' }),
    object_name: NonBlank('Object, or "Global".'),
    raw_score: OrNull(Type.Number(), "The tool's own value."),
    normalized_score: OrNull(Score(''), 'On the common scale.'),
    direction: Type.Enum(['higher', 'lower'], { description: 'Which end of the raw range is good.' }),
    range: Type.Array(Type.Number(), { minItems: 2, maxItems: 2, description: 'Raw range.' }),
    clipped: Type.Boolean({ description: 'Whether the calibration left [1, 5] and was clipped.' }),
    cached: Type.Boolean({ description: 'Whether the value came from the cache.' }),
    calibration_version: Type.String({ description: 'Version of the calibration.' }),
  },
  { ...closed, description: 'How one tool value came about.' },
);
export type ToolDiagnostic = Static<typeof ToolDiagnostic>;

const LocalMap = Type.Object(
  {
    tool_name: Type.String({ description: 'Registry name, or name of a measurement.' }),
    object_name: Type.String({ description: 'Object, or "Global".' }),
    media_type: Type.String({ description: 'Of the map: image/png.' }),
    width: Type.Integer({ description: 'Pixels of the map.' }),
    height: Type.Integer({ description: 'Pixels of the map.' }),
    base64: Type.String({ description: 'The map itself.' }),
  },
  { ...closed, description: 'Where in the picture a tool found what.' },
);

export const Diagnostics = Type.Object(
  {
    plan_confidence: OrNull(
      Type.Number({ minimum: 0, maximum: 1 }),
      'How sure the planner is that it understood the query.',
    ),
    findings: Type.Array(Finding, { description: 'Distortions looked at, worst first.' }),
    tools: Type.Array(ToolDiagnostic, { description: 'Tools run.' }),
    maps: Type.Array(LocalMap, { description: 'Local maps that were asked for.' }),
    notes: Type.Array(Type.String(), {
      description: 'What else a careful reader should know, such as why there is no score.',
    }),
  },
  { ...closed, description: 'What the answer rests on.' },
);
export type Diagnostics = Static<typeof Diagnostics>;

const used = {
  calls: Type.Integer({ description: 'Model calls.' }),
  input_tokens: Type.Integer({ description: 'Tokens sent.' }),
  output_tokens: Type.Integer({ description: 'Tokens received.' }),
  cost_usd: Type.Number({ description: 'Cost in US dollars, at the prices of the back-end table.' }),
};
const RoleUsage = Type.Object(used, { ...closed, description: 'What one role of the pipeline cost.' });
const FailedAttempt = Type.Object(
  {
    role: Type.Enum(['planner', 'executor', 'summarizer'], { description: 'For whom the model was asked.' }),
    attempt: Type.Integer({ minimum: 1, description: 'Attempt with this back end, from 1.' }),
    backend: Type.String({ description: 'Name of the back end.' }),
    error_type: Type.String({ description: 'validation_error, timeout_error, api_error or internal_error.' }),
    message: Type.String({ description: 'What was wrong.' }),
    timestamp: Timestamp('When it failed.'),
  },
  { ...closed, description: 'A model call that brought no valid answer.' },
);

export const ModelUsage = Type.Object(
  {
    ...used,
    cache_hits: Type.Integer({ description: 'Answers taken from the cache instead of a call.' }),
    roles: Type.Object(
      { planner: RoleUsage, executor: RoleUsage, summarizer: RoleUsage },
      { ...closed, description: 'The same by role.' },
    ),
    failed_attempts: Type.Array(FailedAttempt, { description: 'Calls that failed, in order.' }),
  },
  { ...closed, description: 'What the model cost.' },
);
export type ModelUsage = Static<typeof ModelUsage>;

export const Metadata = Type.Object(
  {
    request_id: Type.String({ description: 'Also in the X-Request-Id header and in the logs.' }),
    reasoner: Type.Object(
      {
        kind: Type.Enum(['embedded', 'vlm'], { description: 'embedded: rules and measurements, no model.' }),
        backend: Type.String({ description: 'Name of the back end.' }),
        model: OrNull(Type.String(), 'Model that spoke, or null.'),
      },
      { ...closed, description: 'Who reasoned.' },
    ),
    degraded: Type.Boolean({ description: 'Whether a fallback was used or a part failed.' }),
    degraded_reason: OrNull(Type.String(), 'Why, or null.'),
    timings_ms: Type.Record(Type.String(), Type.Number(), {
      description: 'Time of each stage, of all sidecar calls, and in total.',
    }),
    vlm: ModelUsage,
    cache: Type.Object(
      {
        hits: Type.Integer({ description: 'Results taken from the cache.' }),
        misses: Type.Integer({ description: 'Results computed.' }),
      },
      { ...closed, description: 'The tool cache, for this request.' },
    ),
    versions: Type.Object(
      {
        service: Type.String({ description: 'This service.' }),
        pipeline: Type.String({ description: 'Rules of planning, fusion and replanning.' }),
        reasoner: Type.String({ description: 'Rules or prompts of the reasoner.' }),
        sidecar: OrNull(Type.String(), 'The sidecar, or null when it was not reached.'),
        contract: Type.Integer({ description: 'Wire contract with the sidecar.' }),
      },
      { ...closed, description: 'Versions behind this answer.' },
    ),
  },
  { ...closed, description: 'How the answer was made.' },
);
export type Metadata = Static<typeof Metadata>;

export const Assessment = defineModel(
  'Assessment',
  Type.Object(
    {
      id: Type.String({ description: 'Identifier of this assessment.' }),
      query: Type.String({ description: 'The question, as answered.' }),
      image: ImageInfo,
      reference: OrNull(ImageInfo, 'The reference as received, or null.'),
      plan: OrNull(PlannerOutput, 'The last plan.'),
      executor_evidence: OrNull(ExecutorOutput, 'The last evidence.'),
      summarizer_result: OrNull(SummarizerOutput, 'The last verdict.'),
      iteration_count: Type.Integer({ minimum: 0, description: 'Replans asked for.' }),
      max_replan_iterations: Type.Integer({
        minimum: 0,
        description: 'The limit in force. A limit of N allows N − 1 replans.',
      }),
      replan_history: Type.Array(Type.String(), { description: '"[Iteration 1] reason", the latest ten.' }),
      error: OrNull(Type.String(), 'What failed on a replan; the last good result is kept.'),
      quality_score: OrNull(QualityScore, 'The fused score, or null when neither a tool nor the reasoner gave one.'),
      diagnostics: Diagnostics,
      metadata: Metadata,
    },
    { ...closed, description: 'The answer to a question about the quality of an image.' },
  ),
  { publish: 'output' },
);
export type Assessment = Static<typeof Assessment>;
