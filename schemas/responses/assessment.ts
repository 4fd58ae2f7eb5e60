// The response of POST /assess: the final state, the fused score, and the diagnostics. Every key is always present.
import Type, { type Static } from 'typebox';
import { ExecutorOutput } from '../pipeline/executor.ts';
import { defineModel } from '../validation/model.ts';
import { PlannerOutput } from '../pipeline/planner.ts';
import { SummarizerOutput } from '../pipeline/summarizer.ts';
import { DistortionCategory, Level, LEVELS, NonBlank, OrNull, Score, Severity, Timestamp } from '../vocabulary.ts';

const closed = { additionalProperties: false } as const;

export const ImageInfo = Type.Object(
  {
    sha256: Type.String({ description: 'SHA-256 of the uploaded bytes.' }),
    width: Type.Integer({ description: 'Width in pixels, upright.' }),
    height: Type.Integer({ description: 'Height in pixels, upright.' }),
    format: Type.String({ description: 'Format found in the bytes: jpeg, png, webp, …' }),
    bytes: Type.Integer({ description: 'Size of the upload.' }),
    notes: Type.Array(Type.String(), {
      description: 'Changes made before measuring: orientation, profile, alpha, resize.',
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
      '80 % interval of the score, or null if none is known.',
    ),
    method: Type.Enum([...FUSION_METHODS], {
      description: "Source of the reasoner's probabilities; tools_only if it gave none.",
    }),
    tool_mean: OrNull(
      Score('Mean of the distinct lead tools.'),
      'Mean score of the distinct lead tools; null without one.',
    ),
    weights: perLevel('α: agreement of each level with the tools.'),
    probabilities: perLevel("p: the reasoner's probability of each level; equal if it gave none."),
  },
  { ...closed, description: 'The overall quality score.' },
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
    where: Type.Enum([...PLACES], {
      description: 'Where it is strongest, relative to the object or image in which it was found.',
    }),
    grid: Type.Array(Type.Number({ minimum: 0, maximum: 1 }), {
      minItems: 9,
      maxItems: 9,
      description:
        'How bad each ninth is, row by row from the upper left: 0 perfect, 1 the worst that the map can show.',
    }),
    map: NonBlank('The local map that it was derived from.'),
  },
  { ...closed, description: 'Location in the image.' },
);
export type Place = Static<typeof Place>;

export const Finding = Type.Object(
  {
    object_name: NonBlank('Object, or "Global".'),
    distortion: DistortionCategory,
    severity: Severity,
    strength: OrNull(
      Type.Number({ minimum: 0, maximum: 5 }),
      'Severity on a continuous scale: slight from 1, moderate from 2, severe from 3, extreme from 4; null if the reasoner gives none.',
    ),
    confidence: OrNull(Type.Number({ minimum: 0, maximum: 1 }), 'Confidence of the reasoner; null if it gave none.'),
    measurements: Type.Record(Type.String(), Type.Union([Type.Number(), Type.Null()]), {
      description: 'The measurements it is based on.',
    }),
    variants: Type.Record(Type.String(), Severity, {
      description: 'Severity of each variant that the measurements tell apart, such as underexposure and overexposure.',
    }),
    place: OrNull(Place, 'Where it is strongest, for questions whose answer includes it; null if no map shows it.'),
  },
  { ...closed, description: 'A distortion that was examined.' },
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
  { ...closed, description: 'Details of one tool value.' },
);
export type ToolDiagnostic = Static<typeof ToolDiagnostic>;

const LocalMap = Type.Object(
  {
    tool_name: Type.String({ description: 'Registry name, or name of a measurement.' }),
    object_name: Type.String({ description: 'Object, or "Global".' }),
    media_type: Type.String({ description: 'Media type of the map: image/png.' }),
    width: Type.Integer({ description: 'Width of the map in pixels.' }),
    height: Type.Integer({ description: 'Height of the map in pixels.' }),
    base64: Type.String({ description: 'The map as base64.' }),
  },
  { ...closed, description: 'A local map: where in the image a tool found distortions.' },
);

export const Diagnostics = Type.Object(
  {
    plan_confidence: OrNull(
      Type.Number({ minimum: 0, maximum: 1 }),
      'Probability that the planner understood the query.',
    ),
    findings: Type.Array(Finding, { description: 'Examined distortions, worst first.' }),
    tools: Type.Array(ToolDiagnostic, { description: 'Tools run.' }),
    maps: Type.Array(LocalMap, { description: 'The requested local maps.' }),
    notes: Type.Array(Type.String(), { description: 'Remarks, such as why there is no score.' }),
  },
  { ...closed, description: 'What the answer is based on.' },
);
export type Diagnostics = Static<typeof Diagnostics>;

const used = {
  calls: Type.Integer({ description: 'Model calls.' }),
  input_tokens: Type.Integer({ description: 'Tokens sent.' }),
  output_tokens: Type.Integer({ description: 'Tokens received.' }),
  cost_usd: Type.Number({ description: 'Cost in US dollars, at the prices in configs/model_backends.yaml.' }),
};
const RoleUsage = Type.Object(used, { ...closed, description: 'Model usage of one role of the pipeline.' });
const FailedAttempt = Type.Object(
  {
    role: Type.Enum(['planner', 'executor', 'summarizer'], { description: 'Role for which the model was called.' }),
    attempt: Type.Integer({ minimum: 1, description: 'Attempt with this back end, from 1.' }),
    backend: Type.String({ description: 'Name of the back end.' }),
    error_type: Type.String({ description: 'validation_error, timeout_error, api_error or internal_error.' }),
    message: Type.String({ description: 'What was wrong.' }),
    timestamp: Timestamp('When it failed.'),
  },
  { ...closed, description: 'A model call without a valid answer.' },
);

export const ModelUsage = Type.Object(
  {
    ...used,
    cache_hits: Type.Integer({ description: 'Answers taken from the cache.' }),
    roles: Type.Object(
      { planner: RoleUsage, executor: RoleUsage, summarizer: RoleUsage },
      { ...closed, description: 'Usage by role.' },
    ),
    failed_attempts: Type.Array(FailedAttempt, { description: 'Calls that failed, in order.' }),
  },
  { ...closed, description: 'Model usage.' },
);
export type ModelUsage = Static<typeof ModelUsage>;

export const Metadata = Type.Object(
  {
    request_id: Type.String({ description: 'Also in the X-Request-Id header and in the logs.' }),
    reasoner: Type.Object(
      {
        kind: Type.Enum(['embedded', 'vlm'], { description: 'embedded: rules and measurements, no model.' }),
        backend: Type.String({ description: 'Name of the back end.' }),
        model: OrNull(Type.String(), 'Model that answered, or null.'),
      },
      { ...closed, description: 'The reasoner.' },
    ),
    degraded: Type.Boolean({ description: 'Whether a fallback was used or a part failed.' }),
    degraded_reason: OrNull(Type.String(), 'Why, or null.'),
    timings_ms: Type.Record(Type.String(), Type.Number(), {
      description: 'Duration of each stage, of all sidecar calls, and in total.',
    }),
    vlm: ModelUsage,
    cache: Type.Object(
      {
        hits: Type.Integer({ description: 'Results taken from the cache.' }),
        misses: Type.Integer({ description: 'Results computed.' }),
      },
      { ...closed, description: 'Use of the tool cache by this request.' },
    ),
    versions: Type.Object(
      {
        service: Type.String({ description: 'This service.' }),
        pipeline: Type.String({ description: 'Rules of planning, fusion and replanning.' }),
        reasoner: Type.String({ description: 'Rules or prompts of the reasoner.' }),
        sidecar: OrNull(Type.String(), 'The sidecar, or null when it was not reached.'),
        contract: Type.Integer({ description: 'Wire contract with the sidecar.' }),
      },
      { ...closed, description: 'Versions that produced this answer.' },
    ),
  },
  { ...closed, description: 'How the answer was produced.' },
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
      iteration_count: Type.Integer({ minimum: 0, description: 'Replans requested.' }),
      max_replan_iterations: Type.Integer({
        minimum: 0,
        description: 'The limit in force. A limit of N allows N − 1 replans.',
      }),
      replan_history: Type.Array(Type.String(), { description: '"[Iteration 1] reason", the latest ten.' }),
      error: OrNull(Type.String(), 'Error of a failed replan; the last good result is kept.'),
      quality_score: OrNull(QualityScore, 'The fused score; null if neither a tool nor the reasoner gave one.'),
      diagnostics: Diagnostics,
      metadata: Metadata,
    },
    { ...closed, description: 'The answer to a question about the quality of an image.' },
  ),
  { publish: 'output' },
);
export type Assessment = Static<typeof Assessment>;
