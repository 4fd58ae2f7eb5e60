// A folder of ours, with those above it. Level by level: Node's recursive mkdir never returns where a file system refuses folders as if the
// parent were missing (/proc does).
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigError } from '../errors.ts';

/** The same for a folder that a setting names: what cannot be made is the setting's fault, told with its name. */
export async function makeConfiguredFolder(path: string, setting: string, mode?: number): Promise<void> {
  await makeFolder(path, mode).catch((error: unknown) => {
    throw new ConfigError(
      `Expected a folder that can be used for ${setting} but "${path}" cannot be made (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`,
      { cause: error },
    );
  });
}

/** Private unless told otherwise. Rejects with the system's own error, such as ENOENT or EACCES. */
async function makeFolder(path: string, mode = 0o700): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path), mode);
    // Once more and no oftener: whatever it says now is the truth.
    await mkdir(path, { mode }).catch((again: unknown) => {
      if ((again as NodeJS.ErrnoException).code !== 'EEXIST') throw again;
    });
  }
}
