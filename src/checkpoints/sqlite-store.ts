// The SQLite store, for instances on one machine: one private file. The driver is libsql, which needs no compiler.
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import Database from 'better-sqlite3';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckpointStore, Row } from './store.ts';

/** How long to wait for the write lock of another process; a write takes well under 1 ms. */
const BUSY_TIMEOUT_MS = 5_000;

export async function openSqliteStore(dir: string, columns: string): Promise<CheckpointStore> {
  const file = join(dir, 'checkpoints.sqlite');
  const database = new Database(file, { timeout: BUSY_TIMEOUT_MS });
  // Before the first write: SQLite's journals get the permissions of the file.
  await chmod(file, 0o600);
  const saver = new SqliteSaver(database);
  // The first read creates the saver's tables.
  await saver.getTuple({ configurable: { thread_id: '' } });
  // In WAL mode, NORMAL survives a killed process; a power failure may lose the last stage, which then runs again.
  database.pragma('synchronous=NORMAL');
  database.exec(`CREATE TABLE IF NOT EXISTS runs ${columns}`);
  const statements = new Map<string, ReturnType<typeof database.prepare<unknown[]>>>();
  const prepare = (sql: string) => {
    const statement = statements.get(sql) ?? database.prepare(sql.replaceAll(/\$(\d)/g, '?$1'));
    statements.set(sql, statement);
    return statement;
  };
  return {
    saver,
    query: async (sql, values = []) => prepare(sql).all(...values) as Row[],
    table: 'runs',
    now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    close: async () => {
      database.close();
    },
  };
}
