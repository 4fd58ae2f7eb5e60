// Postgres for instances on many machines: a schema of its own, a small pool, and time limits so that a dead database is noticed.
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import pg from 'pg';
import type { CheckpointStore, Row } from './store.ts';

const SCHEMA = 'agentic_iqa';
const CONNECTIONS = 10;
const CONNECT_MS = 3_000;
const QUERY_MS = 5_000;
/** Any number, the same for every instance: who sets the tables up. */
const SETUP_LOCK = 4_920_361;

export async function openPostgresStore(url: string, columns: string): Promise<CheckpointStore> {
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: QUERY_MS,
    application_name: 'agentic-iqa',
  });
  // A connection that breaks, idle or in use, fails its query and is replaced; without listeners it would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  const saver = new PostgresSaver(pool, undefined, { schema: SCHEMA });
  try {
    await setUp(pool, saver, columns);
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

/** One instance at a time: two that create the same table at once fail, "IF NOT EXISTS" or not. */
async function setUp(pool: pg.Pool, saver: PostgresSaver, columns: string): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [SETUP_LOCK]);
    await saver.setup();
    await client.query(`CREATE TABLE IF NOT EXISTS ${SCHEMA}.runs ${columns}`);
    await client.query('SELECT pg_advisory_unlock($1)', [SETUP_LOCK]);
  } finally {
    // A lock that was not given back goes with its connection.
    client.release(true);
  }
}
