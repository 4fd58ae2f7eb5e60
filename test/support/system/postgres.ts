// A real Postgres for a test: Debian's, in a folder of its own, on a unix socket, gone with the test.
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Test } from 'tap';
import { until } from './service.ts';

const VERSIONS = '/usr/lib/postgresql';
const bin = existsSync(VERSIONS)
  ? readdirSync(VERSIONS)
      .sort()
      .map((version) => join(VERSIONS, version, 'bin'))
      .findLast((dir) => existsSync(join(dir, 'initdb')))
  : undefined;

/** For tap's `skip`: false when there is a server. In CI a skipped test counts as failed. */
export const postgresIsMissing = bin ? false : `needs ${VERSIONS}/*/bin/initdb (apt install postgresql)`;

export interface Postgres {
  url: string;
  /** Ends it at once, as a crash would. */
  kill: () => Promise<void>;
  restart: () => Promise<void>;
}

export async function startPostgres(t: Test): Promise<Postgres> {
  // The path of a unix socket is short by law.
  const dir = mkdtempSync(join(tmpdir(), 'iqa-pg-'));
  const data = join(dir, 'data');
  const user = unprivileged(dir);
  const made = spawnSync(
    join(bin ?? '', 'initdb'),
    ['-D', data, '-A', 'trust', '-U', 'iqa', '--no-sync', '--no-instructions'],
    { ...user, cwd: dir, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  const start = () =>
    spawn(
      join(bin ?? '', 'postgres'),
      ['-D', data, '-k', dir, '-h', '', '-c', 'fsync=off', '-c', 'log_min_messages=panic'],
      { ...user, cwd: dir, stdio: 'ignore' },
    );
  let server = start();
  const url = `postgresql://iqa@/postgres?host=${encodeURIComponent(dir)}`;
  const answers = async () => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    return client
      .connect()
      .then(() => client.end())
      .then(
        () => true,
        () => false,
      );
  };
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const gone = new Promise((resolve) => server.once('exit', resolve));
    // QUIT: no goodbye to clients, but its own child processes go as well.
    server.kill('SIGQUIT');
    await gone;
  };
  t.teardown(async () => {
    await kill();
    rmSync(dir, { recursive: true, force: true });
  });
  await until(answers);
  return {
    url,
    kill,
    restart: async () => {
      server = start();
      await until(answers);
    },
  };
}

/** Postgres refuses to run as root; Debian's package brings a user for it. */
function unprivileged(dir: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (option: string) => Number(spawnSync('id', [option, 'postgres'], { encoding: 'utf8' }).stdout.trim());
  const [uid, gid] = [idOf('-u'), idOf('-g')];
  chownSync(dir, uid, gid);
  return { uid, gid };
}

/** One value of one query, straight from the database. */
export async function valueIn(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return Object.values((await client.query<Record<string, unknown>>(sql)).rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
}
