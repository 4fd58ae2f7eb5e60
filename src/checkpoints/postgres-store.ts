// The Postgres store, for instances on several machines: own schema, small pool, timeouts that detect a dead database.
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import pg from 'pg';
import type { CheckpointStore, Row } from './store.ts';

const SCHEMA = 'agentic_iqa';
const MAX_CONNECTIONS = 10;
const CONNECT_TIMEOUT_MS = 3_000;
const QUERY_TIMEOUT_MS = 5_000;
/** Advisory lock of the instance that creates the tables; any fixed number. */
const SETUP_LOCK_ID = 4_920_361;

export async function openPostgresStore(url: string, columns: string): Promise<CheckpointStore> {
  const pool = new pg.Pool({
    connectionString: url,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: 'agentic-iqa',
  });
  // A broken connection fails its query and is replaced; without listeners it would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  const saver = new PostgresSaver(pool, undefined, { schema: SCHEMA });
  try {
    await createTables(pool, saver, columns);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return {
    saver,
    query: async (sql, values = []) => (await pool.query<Row>(sql, [...values])).rows,
    table: `${SCHEMA}.runs`,
    now: '(extract(epoch from clock_timestamp()) * 1000)::bigint',
    close: () => pool.end(),
  };
}

/** One instance at a time: concurrent creation of a table fails even with IF NOT EXISTS. */
async function createTables(pool: pg.Pool, saver: PostgresSaver, columns: string): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [SETUP_LOCK_ID]);
    await saver.setup();
    await client.query(`CREATE TABLE IF NOT EXISTS ${SCHEMA}.runs ${columns}`);
    await client.query('SELECT pg_advisory_unlock($1)', [SETUP_LOCK_ID]);
  } finally {
    // Closing the connection releases a lock that an error left.
    client.release(true);
  }
}
