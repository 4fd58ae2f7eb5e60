// Stores the images of unfinished runs in private folders with unguessable names, for the process that resumes them.
import { copyFile, link, mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredImage, StoredRun } from '../../schemas/pipeline/stored-run.ts';
import type { AssessmentInput } from '../assessments/context.ts';
import { decodeToLastRow, readMetadata } from '../images/sharp-decoder.ts';
import type { PreparedImage } from '../images/prepare-image.ts';
import { ensureConfiguredDirectory } from '../lib/ensure-directory.ts';

type Images = Pick<AssessmentInput, 'image' | 'reference'>;

export interface ImageStore {
  /** Links or copies the prepared files into the folder. */
  keep: (folder: string, images: Images) => Promise<Images>;
  /** Null if a file is missing or incomplete. */
  restore: (folder: string, stored: Pick<StoredRun, 'image' | 'reference'>) => Promise<Images | null>;
  remove: (folder: string) => Promise<void>;
}

export async function createImageStore(dir: string): Promise<ImageStore> {
  const base = join(dir, 'images');
  await ensureConfiguredDirectory(base, 'IQA_CHECKPOINTS_DIR');
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

export function describeImage({ info, bytes, sha256, jpegQuality }: PreparedImage): StoredImage {
  return { info, bytes, sha256, jpeg_quality: jpegQuality };
}

/** A hard link is free; if the spool is on another disk, the file is copied. */
async function keepFile(image: PreparedImage, path: string): Promise<PreparedImage> {
  try {
    await link(image.path, path);
  } catch {
    await copyFile(image.path, path);
  }
  return { ...image, path };
}

async function restoreFile(stored: StoredImage, path: string, field: string): Promise<PreparedImage | null> {
  const found = await stat(path).catch(() => null);
  if (found?.size !== stored.bytes) return null;
  let verified: Promise<void> | undefined;
  const verify = () => (verified ??= verifyFile(path, field));
  return {
    info: stored.info,
    field,
    path,
    bytes: stored.bytes,
    sha256: stored.sha256,
    jpegQuality: stored.jpeg_quality,
    verify,
  };
}

/** Size and format are those of the file, which may have been resized or re-encoded. */
async function verifyFile(path: string, field: string): Promise<void> {
  const metadata = await readMetadata(path, field);
  await decodeToLastRow({ path, isJpeg: metadata.format === 'jpeg' }, field, metadata);
}
