// The schema of configs/model_backends.yaml: providers, back ends and roles.
import Type, { type Static } from 'typebox';
import { issue, type Issue } from '../../schemas/validation/explain.ts';
import { defineModel } from '../../schemas/validation/model.ts';
import { NonBlank, Nullable } from '../../schemas/vocabulary.ts';

export const ROLES = ['planner', 'executor', 'summarizer'] as const;
export type Role = (typeof ROLES)[number];
export const EMBEDDED = 'embedded';
export const AUTO = 'auto';
export const PROVIDER_KINDS = ['openai', 'anthropic', 'google', 'openai-compatible'] as const;

const closed = { additionalProperties: false } as const;
const Milliseconds = (value: number) => Type.Integer({ minimum: 1, default: value });

const Provider = Type.Object(
  {
    kind: Type.Enum([...PROVIDER_KINDS]),
    base_url: Nullable(NonBlank('Address of the API.'), 'Null: set only by the environment variable.'),
    base_url_env: Nullable(NonBlank('Environment variable.'), 'Overrides base_url if set.'),
    api_key_env: Nullable(NonBlank('Environment variable.'), 'Holds the key; null: the server needs none.'),
  },
  closed,
);

const Backend = Type.Object(
  {
    provider: NonBlank('A provider of this file.'),
    model: NonBlank("The provider's model id."),
    aliases: Type.Array(NonBlank('Another name.'), { default: [] }),
    structured_output: Type.Boolean({ default: true }),
    logprobs: Type.Integer({ minimum: 0, maximum: 20, default: 0 }),
    max_images: Type.Integer({ minimum: 1, default: 8 }),
    grounding: Type.Boolean({ default: false }),
    sampling: Type.Enum(['both', 'temperature', 'none'], { default: 'both' }),
    max_tokens_field: Type.Enum(['max_tokens', 'max_completion_tokens'], { default: 'max_tokens' }),
    extra: Type.Record(Type.String(), Type.Unknown(), { default: {} }),
    usd_per_million_tokens: Type.Object(
      {
        input: Type.Number({ minimum: 0 }),
        cached_input: Type.Number({ minimum: 0 }),
        output: Type.Number({ minimum: 0 }),
        // For providers that charge more for writing to the prompt cache than for plain input.
        cache_write: Type.Optional(Type.Number({ minimum: 0 })),
      },
      closed,
    ),
  },
  closed,
);
export type BackendRow = Static<typeof Backend>;

const RoleSettings = Type.Object(
  {
    backend: NonBlank('A back end, "auto" or "embedded".'),
    temperature: Type.Number({ minimum: 0, maximum: 2, default: 0 }),
    top_p: Type.Number({ minimum: 0, maximum: 1, default: 0.1 }),
    max_tokens: Type.Integer({ minimum: 16, default: 2048 }),
    retry_attempts: Type.Integer({ minimum: 1, maximum: 10, default: 3 }),
    fallback_backend: Nullable(NonBlank('A back end.'), 'Used if the first one gave no valid answer.'),
    timeout: Milliseconds(10_000),
    degrade: Type.Enum(['embedded', 'none'], { default: 'embedded' }),
  },
  closed,
);
export type RoleSettings = Static<typeof RoleSettings>;

const schema = Type.Object(
  {
    reasoning: Type.Enum(['merged', 'paper'], { default: 'merged' }),
    planner_certain_from: Type.Number({
      minimum: 0,
      default: 0.9,
      description:
        'Confidence of the embedded planner from which no model is asked to plan; above 1: a model always plans.',
    }),
    executor_ahead_from: Type.Number({
      minimum: 0,
      default: 0.85,
      description:
        "Confidence of the embedded planner from which the executor's call is made in parallel with the planner's; above 1: never.",
    }),
    speculation: Type.Boolean({
      default: true,
      description: 'Whether tools, and the executor if the plan is likely, start while the model plans.',
    }),
    limits: Type.Object(
      {
        max_calls: Type.Integer({ minimum: 0, default: 12 }),
        max_cost_usd: Nullable(Type.Number({ minimum: 0 }), 'Null: no limit.'),
      },
      { ...closed, default: {} },
    ),
    images: Type.Object(
      {
        long_side: Type.Integer({ minimum: 64, default: 1024 }),
        crop_long_side: Type.Integer({ minimum: 64, default: 2048 }),
      },
      { ...closed, default: {} },
    ),
    backoff: Type.Object({ first: Milliseconds(500), longest: Milliseconds(8_000) }, { ...closed, default: {} }),
    breaker: Type.Object(
      { failures: Type.Integer({ minimum: 1, default: 5 }), pause: Milliseconds(30_000) },
      { ...closed, default: {} },
    ),
    cache: Type.Object({ entries: Type.Integer({ minimum: 0, default: 1000 }) }, { ...closed, default: {} }),
    providers: Type.Record(Type.String(), Provider),
    backends: Type.Record(Type.String(), Backend),
    auto: Type.Array(NonBlank('A back end.'), { default: [] }),
    planner: RoleSettings,
    executor: RoleSettings,
    summarizer: RoleSettings,
  },
  closed,
);
export type ModelBackends = Static<typeof schema>;
export const ModelBackendsFile = defineModel('configs/model_backends.yaml', schema, { check: checkNames });

function checkNames(file: ModelBackends): Issue[] {
  const owners = new Map<string, string>([
    [AUTO, AUTO],
    [EMBEDDED, EMBEDDED],
  ]);
  const issues: Issue[] = [];
  for (const [name, row] of Object.entries(file.backends)) {
    if (!Object.hasOwn(file.providers, row.provider))
      issues.push(issue(`/backends/${name}/provider`, formatOptions(Object.keys(file.providers)), row.provider));
    for (const spelling of [name, ...row.aliases].map((text) => text.toLowerCase())) {
      const owner = owners.get(spelling);
      if (owner !== undefined && owner !== name)
        issues.push(issue(`/backends/${name}/aliases`, `a name not used by ${owner}`, spelling));
      owners.set(spelling, name);
    }
  }
  const check = (path: string, name: string | null, extra: string[]): void => {
    if (name === null || extra.includes(name)) return;
    const owner = owners.get(name.toLowerCase());
    if (owner === undefined || owner === AUTO || owner === EMBEDDED)
      issues.push(issue(path, formatOptions([...extra, ...Object.keys(file.backends)]), name));
  };
  file.auto.forEach((name, index) => {
    check(`/auto/${index}`, name, []);
  });
  for (const role of ROLES) {
    check(`/${role}/backend`, file[role].backend, [AUTO, EMBEDDED]);
    check(`/${role}/fallback_backend`, file[role].fallback_backend, []);
  }
  return issues;
}

const formatOptions = (names: readonly string[]): string => `one of ${names.join(', ')}`;
