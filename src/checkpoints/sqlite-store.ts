// SQLite for the instances of one machine: one private file. The driver is libsql's, which comes compiled (see package.json).
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import Database from 'better-sqlite3';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckpointStore, Row } from './store.ts';

/** How long another process may hold the write lock; a write takes well under a millisecond. */
const BUSY_MS = 5_000;

export async function openSqliteStore(dir: string, columns: string): Promise<CheckpointStore> {
  const file = join(dir, 'checkpoints.sqlite');
  const database = new Database(file, { timeout: BUSY_MS });
  // Before anything is written: SQLite gives its journals the permissions of the file.
  await chmod(file, 0o600);
  const saver = new SqliteSaver(database);
  // A first read makes the saver create its tables.
  await saver.getTuple({ configurable: { thread_id: '' } });
  // In WAL mode NORMAL survives any death of the process; a power cut may cost the last stage, which then runs again.
  database.pragma('synchronous=NORMAL');
  database.exec(`CREATE TABLE IF NOT EXISTS runs ${columns}`);
  const statements = new Map<string, ReturnType<typeof database.prepare<unknown[]>>>();
  const prepared = (sql: string) => {
    const statement = statements.get(sql) ?? database.prepare(sql.replaceAll(/\$(\d)/g, '?$1'));
    statements.set(sql, statement);
    return statement;
  };
  return {
    saver,
    query: async (sql, values = []) => prepared(sql).all(...values) as Row[],
    table: 'runs',
    now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    close: async () => {
      database.close();
    },
  };
}
