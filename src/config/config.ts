// Settings: environment and configs/*.yaml, read, validated and frozen once, before anything starts.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import Type, { type Static, type TSchema } from 'typebox';
import { parse as parseYaml } from 'yaml';
import { MAX_REPLAN_LIMIT } from '../../schemas/requests/assess.ts';
import { defineModel, parse, ValidationError } from '../../schemas/validation/model.ts';
import { CheckpointSection, resolveCheckpoints } from '../checkpoints/settings.ts';
import { ConfigError, messageOf } from '../errors.ts';
import { interpolate } from './interpolate.ts';
import { ModelBackendsFile } from '../vlm/config-file.ts';
import { resolveProviders } from '../vlm/providers/providers.ts';

const Milliseconds = Type.Integer({ minimum: 1 });

const byReference = (limits: { minimum: number; maximum?: number }) =>
  Type.Object(
    { with_reference: Type.Number(limits), without_reference: Type.Number(limits) },
    { additionalProperties: false },
  );

const LICENCES = ['permissive', 'research', 'any'] as const;

const PipelineFile = defineModel(
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
      // Three steps a round: the largest limit that a request may ask for must fit.
      replanning: Type.Object(
        { recursion_limit: Type.Integer({ minimum: 3 * MAX_REPLAN_LIMIT + 2 }) },
        { additionalProperties: false },
      ),
      admission: Type.Object(
        {
          running: Type.Integer({ minimum: 1 }),
          thinking: Type.Integer({ minimum: 0 }),
          waiting: Type.Integer({ minimum: 0 }),
        },
        { additionalProperties: false },
      ),
      comparison: Type.Object(
        {
          decided_at: Type.Number({ minimum: 0.5, maximum: 1 }),
          spread: byReference({ minimum: 0 }),
          shared_error: byReference({ minimum: 0, maximum: 1 }),
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
/** Which tools there are at all: those anybody may use, also those fitted on ratings for research, or also those for non-commercial use. */
export type Licences = PipelineConfig['licences'];

/** Every environment variable the service reads; `.env.example` is checked against this table. */
export const SETTINGS = {
  IQA_HOST: { default: '127.0.0.1', description: 'Address to listen on.' },
  IQA_PORT: { default: '3000', description: 'Port to listen on; 0 takes a free one.' },
  IQA_LOG_LEVEL: { default: 'info', description: 'fatal, error, warn, info, debug, trace or silent.' },
  IQA_SPOOL_DIR: {
    default: '',
    description: "Folder under which uploads wait; default: the system's temporary folder.",
  },
  IQA_MAX_UPLOAD_BYTES: { default: '25000000', description: 'Largest file accepted, in bytes.' },
  IQA_MAX_PIXELS: { default: '50000000', description: 'Largest picture accepted, in pixels.' },
  IQA_SHUTDOWN_GRACE_MS: { default: '10000', description: 'How long running requests may finish after SIGTERM.' },
  IQA_CHECKPOINTS: {
    default: '',
    description: 'Store of checkpoints: none, sqlite or postgres; default: checkpoints.store in configs/pipeline.yaml.',
  },
  IQA_CHECKPOINTS_DIR: {
    default: '',
    description:
      'Folder of the SQLite file and of the pictures of unfinished runs; default: checkpoints.dir in configs/pipeline.yaml.',
  },
  IQA_CHECKPOINTS_URL: {
    default: '',
    description: 'Address of the Postgres for checkpoints: postgresql://user:password@host:5432/database.',
  },
  IQA_PYTHON: {
    default: '',
    description: "Python (≥ 3.10) for the sidecar's environment; default: python3 on the PATH.",
  },
  IQA_MODELS_DIR: {
    default: '',
    description:
      'Folder whose fitted files and networks the sidecar takes before its own; one that is not there leaves the tools that need them unavailable.',
  },
  SIDECAR_URL: {
    default: '',
    description: 'Address of a sidecar that runs elsewhere; empty: one is started as a child.',
  },
  IQA_LICENCES: {
    default: '',
    description: 'Which tools exist: permissive, research or any; default: licences in configs/pipeline.yaml.',
  },
  PYIQA_SIDECAR_URL: {
    default: '',
    description:
      'Address of the optional sidecar with pyiqa; its tools also need "licences: any" in configs/pipeline.yaml.',
  },
  IQA_MODEL_BACKENDS: {
    default: 'configs/model_backends.yaml',
    description: 'The file that says which models reason; a relative path starts at the project.',
  },
  IQA_BACKEND: {
    default: 'auto',
    description: 'Who reasons: a back end of that file, "embedded", or "auto": the first whose key is set.',
  },
  IQA_REASONING: { default: 'merged', description: "merged: few model calls; paper: the paper's five, one by one." },
  IQA_VLM_MAX_CALLS: { default: '12', description: 'Model calls that one assessment may make.' },
  IQA_VLM_MAX_COST_USD: {
    default: '0.5',
    description: 'What the model calls of one assessment may cost; null: no limit.',
  },
  IQA_VLM_LONG_SIDE: { default: '1024', description: 'Longer side, in pixels, of the picture that a model is shown.' },
  IQA_LOCAL_VLM_URL: {
    default: '',
    description: 'Address of an OpenAI-compatible server (vLLM, Ollama), with its /v1; enables qwen2.5-vl-local.',
  },
  OPENAI_API_KEY: { default: '', description: 'Enables the openai back ends; empty counts as unset.' },
  OPENAI_BASE_URL: { default: '', description: "Another address for OpenAI's API, with its /v1." },
  ANTHROPIC_API_KEY: { default: '', description: 'Enables the anthropic back ends.' },
  ANTHROPIC_BASE_URL: { default: '', description: "Another address for Anthropic's API." },
  GOOGLE_API_KEY: { default: '', description: 'Enables the google back ends.' },
  GOOGLE_API_BASE_URL: { default: '', description: "Another address for Google's API." },
} as const;
type SettingName = keyof typeof SETTINGS;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export type Config = ReturnType<typeof loadConfig>;

export function loadConfig(environment: Record<string, string | undefined> = process.env, root = projectRoot()) {
  const setting = (name: SettingName): string => environment[name]?.trim() || SETTINGS[name].default;
  const pipeline = readYaml(root, 'configs/pipeline.yaml', PipelineFile);
  const checkpointSettings = {
    store: setting('IQA_CHECKPOINTS'),
    dir: setting('IQA_CHECKPOINTS_DIR'),
    url: setting('IQA_CHECKPOINTS_URL'),
  };
  const models = readYaml(root, setting('IQA_MODEL_BACKENDS'), ModelBackendsFile, (content) =>
    interpolate(content, environment),
  );
  return deepFreeze({
    root,
    host: setting('IQA_HOST'),
    port: integer('IQA_PORT', setting('IQA_PORT'), 0, 65_535),
    logLevel: oneOf('IQA_LOG_LEVEL', setting('IQA_LOG_LEVEL'), LOG_LEVELS),
    spoolDir: setting('IQA_SPOOL_DIR') || null,
    maxUploadBytes: integer('IQA_MAX_UPLOAD_BYTES', setting('IQA_MAX_UPLOAD_BYTES'), 1, 2 ** 31),
    maxPixels: integer('IQA_MAX_PIXELS', setting('IQA_MAX_PIXELS'), 1, 2 ** 31),
    shutdownGraceMs: integer('IQA_SHUTDOWN_GRACE_MS', setting('IQA_SHUTDOWN_GRACE_MS'), 0, 600_000),
    sidecarUrl: httpUrl('SIDECAR_URL', setting('SIDECAR_URL')),
    pyiqaSidecarUrl: httpUrl('PYIQA_SIDECAR_URL', setting('PYIQA_SIDECAR_URL')),
    pipeline: { ...pipeline, licences: oneOf('IQA_LICENCES', setting('IQA_LICENCES') || pipeline.licences, LICENCES) },
    checkpoints: resolveCheckpoints(pipeline.checkpoints, checkpointSettings, root),
    models,
    providers: resolveProviders(models, environment),
    version: packageVersion(root),
  });
}

/** Reads one file of configs/ into a validated value, or says exactly what is wrong with it. */
export function readYaml<S extends TSchema>(
  root: string,
  file: string,
  schema: S,
  prepare = (content: unknown) => content,
): Static<S> {
  try {
    return parse(schema, prepare(parseYaml(readFileSync(resolve(root, file), 'utf8'))));
  } catch (error) {
    const reason =
      error instanceof ValidationError ? error.issues.map((found) => found.message).join('; ') : messageOf(error);
    throw new ConfigError(`${file}: ${reason}`, { cause: error });
  }
}

/** The folder of package.json, found by walking up: the same from src/ and from dist/src/. */
export function projectRoot(from = dirname(fileURLToPath(import.meta.url))): string {
  const parent = dirname(from);
  if (existsSync(join(from, 'package.json'))) return from;
  if (parent === from) throw new ConfigError('Expected a package.json above the program but found none');
  return projectRoot(parent);
}

function integer(name: string, text: string, low: number, high: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= low && value <= high) return value;
  throw new ConfigError(`Expected an integer from ${low} to ${high} for ${name} but received "${text}"`);
}

function oneOf<const T extends string>(name: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === text);
  if (found !== undefined) return found;
  throw new ConfigError(`Expected one of ${allowed.join(', ')} for ${name} but received "${text}"`);
}

function httpUrl(name: string, text: string): string | null {
  if (text === '') return null;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text).origin;
  throw new ConfigError(`Expected an http address for ${name} but received "${text}"`);
}

function packageVersion(root: string): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

function deepFreeze<T extends object>(value: T): T {
  for (const item of Object.values(value)) if (typeof item === 'object' && item !== null) deepFreeze(item as object);
  return Object.freeze(value);
}
