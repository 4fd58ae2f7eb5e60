// Creates directories that settings name.
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigError } from '../errors.ts';

/** Creates the directory that a setting names; a failure is a ConfigError with the name of the setting. */
export async function ensureConfiguredDirectory(path: string, setting: string, mode?: number): Promise<void> {
  await ensureDirectory(path, mode).catch((error: unknown) => {
    throw new ConfigError(
      `Expected a usable folder for ${setting} but "${path}" cannot be created (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`,
      { cause: error },
    );
  });
}

/**
 * Level by level: Node's recursive mkdir never returns where a file system refuses a folder with ENOENT, as /proc does.
 * Private by default.
 */
async function ensureDirectory(path: string, mode = 0o700): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await ensureDirectory(dirname(path), mode);
    // Only one retry: a second ENOENT is final.
    await mkdir(path, { mode }).catch((retryError: unknown) => {
      if ((retryError as NodeJS.ErrnoException).code !== 'EEXIST') throw retryError;
    });
  }
}
