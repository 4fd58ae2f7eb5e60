// The pictures of unfinished runs: kept in private folders with unguessable names, where the next process finds them.
import { copyFile, link, mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredPicture, StoredRun } from '../../schemas/pipeline/stored-run.ts';
import type { AssessmentInput } from '../assessments/run.ts';
import { decodeToLastRow, readMetadata } from '../images/sharp-decoder.ts';
import type { PreparedImage } from '../images/prepare-image.ts';
import { makeConfiguredFolder } from '../lib/ensure-directory.ts';

type Pictures = Pick<AssessmentInput, 'image' | 'reference'>;

export interface PictureStore {
  /** Puts the prepared files of a request into a folder of their own. */
  keep: (folder: string, pictures: Pictures) => Promise<Pictures>;
  /** The same pictures in another process; null when they are not, or not wholly, there. */
  restore: (folder: string, stored: Pick<StoredRun, 'image' | 'reference'>) => Promise<Pictures | null>;
  remove: (folder: string) => Promise<void>;
}

export async function createPictureStore(dir: string): Promise<PictureStore> {
  const base = join(dir, 'pictures');
  await makeConfiguredFolder(base, 'IQA_CHECKPOINTS_DIR');
  return {
    async keep(folder, { image, reference }) {
      await mkdir(join(base, folder), { mode: 0o700 });
      const [kept, keptReference] = await Promise.all([
        keepFile(image, join(base, folder, 'image')),
        reference ? keepFile(reference, join(base, folder, 'reference')) : null,
      ]);
      return { image: kept, reference: keptReference };
    },
    async restore(folder, { image, reference }) {
      const [found, foundReference] = await Promise.all([
        restoreFile(image, join(base, folder, 'image'), 'image'),
        reference ? restoreFile(reference, join(base, folder, 'reference'), 'reference') : null,
      ]);
      return found && (foundReference || !reference) ? { image: found, reference: foundReference } : null;
    },
    remove: (folder) => rm(join(base, folder), { recursive: true, force: true }),
  };
}

export function describePicture({ info, bytes, sha256, jpegQuality }: PreparedImage): StoredPicture {
  return { info, bytes, sha256, jpeg_quality: jpegQuality };
}

/** A second name for the spooled file costs nothing; where the spool is on another disk, it is copied. */
async function keepFile(image: PreparedImage, path: string): Promise<PreparedImage> {
  try {
    await link(image.path, path);
  } catch {
    await copyFile(image.path, path);
  }
  return { ...image, path };
}

async function restoreFile(stored: StoredPicture, path: string, field: string): Promise<PreparedImage | null> {
  const found = await stat(path).catch(() => null);
  if (found?.size !== stored.bytes) return null;
  let verified: Promise<void> | undefined;
  const verify = () => (verified ??= verifyFile(path, field));
  return {
    info: stored.info,
    path,
    bytes: stored.bytes,
    sha256: stored.sha256,
    jpegQuality: stored.jpeg_quality,
    verify,
  };
}

/** The file's own size and format count: it may have been resized and re-encoded. */
async function verifyFile(path: string, field: string): Promise<void> {
  const metadata = await readMetadata(path, field);
  await decodeToLastRow({ path, isJpeg: metadata.format === 'jpeg' }, field, metadata);
}
