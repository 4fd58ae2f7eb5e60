// Both stores for tests of checkpoints: the environment that turns each on, and a look into its tables.
import Database from 'better-sqlite3';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import { postgresIsMissing, startPostgres, valueIn, type Postgres } from './postgres.ts';

export interface TestStore {
  environment: Record<string, string>;
  postgres: Postgres | null;
  /** Rows of the runs, and of the stages that LangGraph stored. */
  counts: () => Promise<{ runs: number; stages: number; images: number }>;
  /** A change from outside, such as an older version would have left. */
  change: (sql: string) => Promise<void>;
}

interface Kind {
  name: 'sqlite' | 'postgres';
  skip: string | false;
  open: (t: Test) => Promise<TestStore>;
}

export const STORES: Kind[] = [
  { name: 'sqlite', skip: false, open: openSqlite },
  { name: 'postgres', skip: postgresIsMissing, open: openPostgres },
];

async function openSqlite(t: Test): Promise<TestStore> {
  const dir = makeFolder(t);
  const read = (sql: string) => {
    const database = new Database(join(dir, 'checkpoints.sqlite'), { timeout: 5_000 });
    try {
      return database.prepare(sql).all() as Record<string, unknown>[];
    } finally {
      database.close();
    }
  };
  const count = (table: string) => Number(read(`SELECT count(*) AS n FROM ${table}`)[0]?.['n']);
  return {
    environment: { IQA_CHECKPOINTS: 'sqlite', IQA_CHECKPOINTS_DIR: dir },
    postgres: null,
    counts: async () => ({
      runs: count('runs'),
      stages: count('checkpoints') + count('writes'),
      images: countImages(dir),
    }),
    change: async (sql) => {
      read(sql);
    },
  };
}

async function openPostgres(t: Test): Promise<TestStore> {
  const dir = makeFolder(t);
  const postgres = await startPostgres(t);
  const count = async (table: string) =>
    Number(await valueIn(postgres.url, `SELECT count(*) FROM agentic_iqa.${table}`));
  return {
    environment: { IQA_CHECKPOINTS: 'postgres', IQA_CHECKPOINTS_DIR: dir, IQA_CHECKPOINTS_URL: postgres.url },
    postgres,
    counts: async () => ({
      runs: await count('runs'),
      stages: (await count('checkpoints')) + (await count('checkpoint_writes')) + (await count('checkpoint_blobs')),
      images: countImages(dir),
    }),
    change: async (sql) => {
      await valueIn(postgres.url, sql.replaceAll(/\bruns\b/g, 'agentic_iqa.runs'));
    },
  };
}

/** Not tap's own folder, of which a test has but one. */
export function makeFolder(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'iqa-checkpoints-'));
  t.teardown(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

const countImages = (dir: string): number =>
  existsSync(join(dir, 'images')) ? readdirSync(join(dir, 'images')).length : 0;

/** An answer without what differs from run to run: ids and times. */
export function essence(answer: Assessment): unknown {
  return JSON.parse(
    JSON.stringify(answer, (key, value: unknown) =>
      ['id', 'request_id', 'timings_ms', 'execution_time', 'timestamp'].includes(key) ? undefined : value,
    ),
  );
}
