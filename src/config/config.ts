// Loads the configuration: environment variables and configs/*.yaml, validated and frozen before the service starts.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Static, TSchema } from 'typebox';
import { parse as parseYaml } from 'yaml';
import { parse, ValidationError } from '../../schemas/validation/model.ts';
import { resolveCheckpoints } from '../checkpoints/settings.ts';
import { ConfigError, getMessage } from '../errors.ts';
import { ModelBackendsFile } from '../vlm/config-file.ts';
import { resolveProviders } from '../vlm/providers/providers.ts';
import { interpolate } from './interpolate.ts';
import { LICENCES, PipelineFile } from './pipeline-file.ts';
import { SETTINGS, type SettingName } from './settings.ts';

export type { Licences, PipelineConfig } from './pipeline-file.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export type Config = ReturnType<typeof loadConfig>;

export function loadConfig(environment: Record<string, string | undefined> = process.env, root = projectRoot()) {
  const get = (name: SettingName): string => environment[name]?.trim() || SETTINGS[name].default;
  const pipeline = readYaml(root, 'configs/pipeline.yaml', PipelineFile);
  const checkpointSettings = {
    store: get('IQA_CHECKPOINTS'),
    dir: get('IQA_CHECKPOINTS_DIR'),
    url: get('IQA_CHECKPOINTS_URL'),
  };
  const models = readYaml(root, get('IQA_MODEL_BACKENDS'), ModelBackendsFile, (content) =>
    interpolate(content, environment),
  );
  return deepFreeze({
    root,
    host: get('IQA_HOST'),
    port: parseInteger('IQA_PORT', get('IQA_PORT'), 0, 65_535),
    logLevel: parseEnum('IQA_LOG_LEVEL', get('IQA_LOG_LEVEL'), LOG_LEVELS),
    spoolDir: get('IQA_SPOOL_DIR') || null,
    maxUploadBytes: parseInteger('IQA_MAX_UPLOAD_BYTES', get('IQA_MAX_UPLOAD_BYTES'), 1, 2 ** 31),
    maxPixels: parseInteger('IQA_MAX_PIXELS', get('IQA_MAX_PIXELS'), 1, 2 ** 31),
    shutdownGraceMs: parseInteger('IQA_SHUTDOWN_GRACE_MS', get('IQA_SHUTDOWN_GRACE_MS'), 0, 600_000),
    sidecarUrl: parseHttpUrl('SIDECAR_URL', get('SIDECAR_URL')),
    pyiqaSidecarUrl: parseHttpUrl('PYIQA_SIDECAR_URL', get('PYIQA_SIDECAR_URL')),
    pipeline: { ...pipeline, licences: parseEnum('IQA_LICENCES', get('IQA_LICENCES') || pipeline.licences, LICENCES) },
    checkpoints: resolveCheckpoints(pipeline.checkpoints, checkpointSettings, root),
    models,
    providers: resolveProviders(models, environment),
    version: readPackageVersion(root),
  });
}

/** Reads and validates one file of configs/; throws a ConfigError that lists all issues. */
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
      error instanceof ValidationError ? error.issues.map(({ message }) => message).join('; ') : getMessage(error);
    throw new ConfigError(`${file}: ${reason}`, { cause: error });
  }
}

/** The folder of package.json above this file: the same from src/ and from dist/src/. */
export function projectRoot(from = dirname(fileURLToPath(import.meta.url))): string {
  const parent = dirname(from);
  if (existsSync(join(from, 'package.json'))) return from;
  if (parent === from) throw new ConfigError('Expected a package.json above the program but found none');
  return projectRoot(parent);
}

function parseInteger(name: string, text: string, low: number, high: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= low && value <= high) return value;
  throw new ConfigError(`Expected an integer from ${low} to ${high} for ${name} but received "${text}"`);
}

function parseEnum<const T extends string>(name: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === text);
  if (found !== undefined) return found;
  throw new ConfigError(`Expected one of ${allowed.join(', ')} for ${name} but received "${text}"`);
}

function parseHttpUrl(name: string, text: string): string | null {
  if (text === '') return null;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text).origin;
  throw new ConfigError(`Expected an http address for ${name} but received "${text}"`);
}

function readPackageVersion(root: string): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

function deepFreeze<T extends object>(value: T): T {
  for (const item of Object.values(value)) if (typeof item === 'object' && item !== null) deepFreeze(item as object);
  return Object.freeze(value);
}
