// Makes an empty folder for a test and removes it afterwards. Unlike t.testdir(), every call makes another one.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

export async function makeTempFolder(t: Pick<Test, 'teardown'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'iqa-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
