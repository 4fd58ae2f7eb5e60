// Opens the configured database: LangGraph's saver for the stages, SQL for the table of runs.
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { ConfigError, publicMessage } from '../errors.ts';
import type { CheckpointConfig } from './settings.ts';

export type Row = Record<string, unknown>;

export interface CheckpointStore {
  saver: BaseCheckpointSaver;
  /** Runs one statement with placeholders $1, $2, …; resolves with its rows. */
  query: (sql: string, values?: readonly unknown[]) => Promise<Row[]>;
  /** Qualified name of the table of runs. */
  table: string;
  /** SQL for the database's clock in milliseconds, so that instances with different clocks agree. */
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

/** Imports the driver on demand: a service without checkpoints never loads it. */
export async function openStore(config: CheckpointConfig): Promise<CheckpointStore> {
  try {
    const store =
      config.store === 'postgres'
        ? await (await import('./postgres-store.ts')).openPostgresStore(config.url ?? '', RUN_COLUMNS)
        : await (await import('./sqlite-store.ts')).openSqliteStore(config.dir, RUN_COLUMNS);
    return store;
  } catch (error) {
    throw new ConfigError(
      `checkpoints are set to ${config.store}, but its database is not usable: ${publicMessage(error)}`,
      { cause: error },
    );
  }
}
