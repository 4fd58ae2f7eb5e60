// The `checkpoints` section of configs/pipeline.yaml and the environment variables that override it.
import { resolve } from 'node:path';
import Type, { type Static } from 'typebox';
import { ConfigError } from '../errors.ts';

const STORES = ['none', 'sqlite', 'postgres'] as const;

export const CheckpointSection = Type.Object(
  {
    store: Type.Enum([...STORES]),
    dir: Type.String({ minLength: 1 }),
    finished: Type.Enum(['keep', 'drop']),
    lease_ms: Type.Integer({ minimum: 1_000, maximum: 600_000 }),
    retention: Type.Object(
      {
        max_age_hours: Type.Number({ exclusiveMinimum: 0, maximum: 8_760 }),
        max_runs: Type.Integer({ minimum: 1 }),
        max_bytes: Type.Integer({ minimum: 0 }),
        sweep_seconds: Type.Integer({ minimum: 1, maximum: 86_400 }),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);
type CheckpointSection = Static<typeof CheckpointSection>;

export interface CheckpointConfig extends Pick<CheckpointSection, 'finished' | 'lease_ms' | 'retention'> {
  store: (typeof STORES)[number];
  /** Absolute path of the SQLite file and the images of unfinished runs; instances that share a Postgres share it. */
  dir: string;
  /** Of Postgres. May contain a password: never logged or echoed. */
  url: string | null;
}

/** Values of the environment variables; empty if unset. */
interface CheckpointEnvironment {
  store: string;
  dir: string;
  url: string;
}

export function resolveCheckpoints(
  section: CheckpointSection,
  environment: CheckpointEnvironment,
  root: string,
): CheckpointConfig {
  const store = parseStore(environment.store || section.store);
  const { finished, lease_ms, retention } = section;
  return {
    store,
    dir: resolve(root, environment.dir || section.dir),
    url: store === 'postgres' ? parsePostgresUrl(environment.url) : null,
    finished,
    lease_ms,
    retention,
  };
}

function parseStore(text: string): (typeof STORES)[number] {
  const store = STORES.find((name) => name === text);
  if (store) return store;
  throw new ConfigError(`Expected one of ${STORES.join(', ')} for IQA_CHECKPOINTS but received "${text}"`);
}

function parsePostgresUrl(text: string): string {
  if (text === '')
    throw new ConfigError(
      'Expected the address of a database for IQA_CHECKPOINTS_URL, because checkpoints go to postgres, but received nothing',
    );
  // Not echoed: it may contain a password.
  if (!/^postgres(ql)?:\/\//.test(text))
    throw new ConfigError(
      'Expected an address that begins with postgresql:// for IQA_CHECKPOINTS_URL but received something else',
    );
  return text;
}
