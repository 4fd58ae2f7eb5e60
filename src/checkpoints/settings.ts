// The `checkpoints` section of configs/pipeline.yaml and the settings that complete it: where unfinished runs are kept, and for how long.
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
  /** Absolute. SQLite's file and the pictures of unfinished runs lie here; instances that share a Postgres share it. */
  dir: string;
  /** Of Postgres; it may carry a password, so it is never logged nor echoed. */
  url: string | null;
}

/** The environment's word, each of them empty when it says nothing. */
export interface CheckpointEnvironment {
  store: string;
  dir: string;
  url: string;
}

export function resolveCheckpoints(
  section: CheckpointSection,
  environment: CheckpointEnvironment,
  root: string,
): CheckpointConfig {
  const store = storeOf(environment.store || section.store);
  const { finished, lease_ms, retention } = section;
  return {
    store,
    dir: resolve(root, environment.dir || section.dir),
    url: store === 'postgres' ? postgresUrl(environment.url) : null,
    finished,
    lease_ms,
    retention,
  };
}

function storeOf(text: string): (typeof STORES)[number] {
  const store = STORES.find((name) => name === text);
  if (store) return store;
  throw new ConfigError(`Expected one of ${STORES.join(', ')} for IQA_CHECKPOINTS but received "${text}"`);
}

function postgresUrl(text: string): string {
  if (text === '')
    throw new ConfigError(
      'Expected the address of a database for IQA_CHECKPOINTS_URL, because checkpoints go to postgres, but received nothing',
    );
  // Not echoed: it may hold a password.
  if (!/^postgres(ql)?:\/\//.test(text))
    throw new ConfigError(
      'Expected an address that begins with postgresql:// for IQA_CHECKPOINTS_URL but received something else',
    );
  return text;
}
