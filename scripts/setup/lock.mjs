// A lock between processes that a dead process cannot keep.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const LOCK_POLL_MS = 100;

/**
 * Waits for the lock of `folder`, which is held until this process ends.
 *
 * The lock is a folder that holds one file, named after its owner. Renaming a folder to it succeeds only when the lock is empty or missing,
 * so exactly one process gets it. A stale file is removed by its name, so the file of a live owner is never removed by mistake.
 */
export async function takeLock(folder, onWait) {
  const lock = join(folder, 'lock');
  const owner = identifyProcess(process.pid);
  const candidate = join(folder, `lock-${owner}`);
  mkdirSync(candidate, { recursive: true });
  writeFileSync(join(candidate, owner), '');
  let isWaiting = false;
  while (!tryRename(candidate, lock)) {
    const [holder] = listFolder(lock);
    if (holder === undefined) continue;
    const pid = Number.parseInt(holder);
    if (identifyProcess(pid) !== holder) {
      rmSync(join(lock, holder), { force: true });
      continue;
    }
    if (!isWaiting) onWait(pid);
    isWaiting = true;
    await delay(LOCK_POLL_MS);
  }
  process.on('exit', () => rmSync(join(lock, owner), { force: true }));
}

/** Process id and start time, because the system re-uses ids. Null when no such process is running. */
function identifyProcess(pid) {
  if (!existsSync('/proc/self/stat')) {
    const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    return stdout?.trim() ? `${pid}-${stdout.trim().replaceAll(/\W+/g, '-')}` : null;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name, in parentheses, may contain spaces; the state follows it, and 19 fields later the start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : `${pid}-${fields[19]}`;
  } catch {
    return null;
  }
}

function tryRename(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes(error.code)) return false;
    throw error;
  }
}

function listFolder(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
