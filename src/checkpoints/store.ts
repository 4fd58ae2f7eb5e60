// Opens the configured database: LangGraph's own saver for the stages, and plain SQL beside it for the runs they belong to.
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { ConfigError, publicMessage } from '../errors.ts';
import type { CheckpointConfig } from './settings.ts';

export type Row = Record<string, unknown>;

export interface CheckpointStore {
  saver: BaseCheckpointSaver;
  /** One statement, with $1, $2, … for its values; its rows. */
  query: (sql: string, values?: readonly unknown[]) => Promise<Row[]>;
  /** The table of runs, as this database calls it. */
  table: string;
  /** The database's own clock in milliseconds, as SQL: instances whose clocks differ agree on it. */
  now: string;
  close: () => Promise<void>;
}

const RUN_COLUMNS = `(
  id TEXT PRIMARY KEY,
  owner TEXT,
  lease_until BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  fingerprint TEXT NOT NULL,
  folder TEXT NOT NULL,
  request TEXT,
  result TEXT
)`;

/** Drivers are loaded here, so that a service without checkpoints never loads them. */
export async function openStore(config: CheckpointConfig): Promise<CheckpointStore> {
  try {
    const store =
      config.store === 'postgres'
        ? await (await import('./postgres-store.ts')).openPostgresStore(config.url ?? '', RUN_COLUMNS)
        : await (await import('./sqlite-store.ts')).openSqliteStore(config.dir, RUN_COLUMNS);
    return store;
  } catch (error) {
    throw new ConfigError(
      `checkpoints are set to ${config.store}, but its database cannot be used: ${publicMessage(error)}`,
      { cause: error },
    );
  }
}
