// The table of runs: owner and lease, request, and result once finished.
import type { CheckpointStore, Row } from './store.ts';

export interface RunRow {
  owner: string | null;
  /** Remaining time of the owner's lease; at 0 or less, any process may claim the run. */
  leaseLeftMs: number;
  fingerprint: string;
  /** Folder of its images. */
  folder: string;
  request: string | null;
  result: string | null;
}

interface Retention {
  maxAgeMs: number;
  maxRuns: number;
  maxBytes: number;
}

export interface RunTable {
  /** False if the id exists. */
  create: (run: {
    id: string;
    owner: string;
    bytes: number;
    fingerprint: string;
    folder: string;
    request: string;
  }) => Promise<boolean>;
  find: (id: string) => Promise<RunRow | null>;
  /** Takes over a run whose lease has expired or whose owner is `deadOwner`. Only one of several processes succeeds. */
  claim: (id: string, owner: string, deadOwner?: string) => Promise<boolean>;
  /** False if another process has claimed the run. */
  renew: (id: string, owner: string) => Promise<boolean>;
  /** Clears owner and lease, so that the run can be resumed at once. */
  release: (id: string, owner: string) => Promise<void>;
  restart: (id: string, owner: string, fingerprint: string) => Promise<void>;
  finish: (id: string, owner: string, result: string) => Promise<boolean>;
  remove: (id: string, owner: string) => Promise<void>;
  /** Claims the inactive runs that exceed the retention limits, for removal by the caller. */
  claimExpired: (owner: string, retention: Retention) => Promise<{ id: string; folder: string }[]>;
}

export function createRunTable({ query, table, now }: CheckpointStore, leaseMs: number): RunTable {
  const change = async (sql: string, values: readonly unknown[]): Promise<boolean> =>
    (await query(`${sql} RETURNING id`, values)).length > 0;
  return {
    create: ({ id, owner, bytes, fingerprint, folder, request }) =>
      change(
        `
      INSERT INTO ${table} (id, owner, lease_until, created_at, bytes, fingerprint, folder, request)
      VALUES ($1, $2, ${now} + $3, ${now}, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING`,
        [id, owner, leaseMs, bytes, fingerprint, folder, request],
      ),
    async find(id) {
      const [row] = await query(
        `SELECT owner, lease_until - ${now} AS lease_left, fingerprint, folder, request, result FROM ${table} WHERE id = $1`,
        [id],
      );
      return row ? parseRow(row) : null;
    },
    claim: (id, owner, deadOwner = '') =>
      change(
        `
      UPDATE ${table} SET owner = $2, lease_until = ${now} + $3
      WHERE id = $1 AND result IS NULL AND (lease_until <= ${now} OR owner = $4)`,
        [id, owner, leaseMs, deadOwner],
      ),
    renew: (id, owner) =>
      change(`UPDATE ${table} SET lease_until = ${now} + $3 WHERE id = $1 AND owner = $2`, [id, owner, leaseMs]),
    async release(id, owner) {
      await query(`UPDATE ${table} SET owner = NULL, lease_until = 0 WHERE id = $1 AND owner = $2`, [id, owner]);
    },
    async restart(id, owner, fingerprint) {
      await query(`UPDATE ${table} SET fingerprint = $3 WHERE id = $1 AND owner = $2`, [id, owner, fingerprint]);
    },
    finish: (id, owner, result) =>
      change(
        `
      UPDATE ${table} SET result = $3, request = NULL, bytes = 0, owner = NULL, lease_until = 0 WHERE id = $1 AND owner = $2`,
        [id, owner, result],
      ),
    async remove(id, owner) {
      await query(`DELETE FROM ${table} WHERE id = $1 AND owner = $2`, [id, owner]);
    },
    async claimExpired(owner, { maxAgeMs, maxRuns, maxBytes }) {
      const rows = await query(
        `
        UPDATE ${table} SET owner = $1, lease_until = ${now} + $2 WHERE lease_until <= ${now} AND id IN (
          SELECT id FROM (
            SELECT id, created_at, bytes, row_number() OVER newest AS place, sum(bytes) OVER newest AS held
            FROM ${table} WINDOW newest AS (ORDER BY created_at DESC, id)
          ) AS ranked WHERE created_at < ${now} - $3 OR place > $4 OR (held > $5 AND bytes > 0)
        ) RETURNING id, folder`,
        [owner, leaseMs, maxAgeMs, maxRuns, maxBytes],
      );
      return rows.map(({ id, folder }) => ({ id: id as string, folder: folder as string }));
    },
  };
}

/** Postgres returns BIGINT as text. */
const parseRow = (row: Row): RunRow => ({
  owner: row['owner'] as string | null,
  leaseLeftMs: Number(row['lease_left']),
  fingerprint: row['fingerprint'] as string,
  folder: row['folder'] as string,
  request: row['request'] as string | null,
  result: row['result'] as string | null,
});
