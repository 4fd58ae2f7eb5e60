// The disk as PlannerInput may see it: whether a caller's path is a readable image file inside the allowed folder.
import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { extname, resolve, sep } from 'node:path';
import { IMAGE_EXTENSIONS, sniff, SNIFF_BYTES } from './formats/sniff.ts';

export interface PathCheckOptions {
  /** Paths must lie below this folder, after links are resolved. */
  root: string;
  /** Spooled files have no extension: their bytes alone decide. */
  requireExtension: boolean;
}

/** Returns the rule that `PlannerInput` applies to each path: the complaint, or null. */
export function createImagePathCheck({ root, requireExtension }: PathCheckOptions): (path: string) => string | null {
  const base = realpathSync(root);
  const isInside = (path: string) => path.startsWith(base.endsWith(sep) ? base : base + sep);
  return (path) => {
    const absolute = resolve(base, path);
    // Before the disk is asked: what lies outside must not even show whether it exists.
    if (path.includes('\0') || path.split(/[\\/]/).includes('..') || !isInside(absolute))
      return `Path traversal is not allowed: ${path}`;
    if (requireExtension && !IMAGE_EXTENSIONS.includes(extname(path).toLowerCase()))
      return `Invalid image format: ${path}`;
    try {
      const real = realpathSync(absolute);
      if (!isInside(real)) return `Path traversal is not allowed: ${path}`;
      if (!statSync(real).isFile()) return `Image file not found: ${path}`;
      const sniffed = sniff(headOf(real));
      return sniffed && 'format' in sniffed ? null : `Invalid image format: ${path}`;
    } catch {
      return `Image file not found: ${path}`;
    }
  };
}

function headOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(SNIFF_BYTES);
    return head.subarray(0, readSync(file, head, 0, SNIFF_BYTES, 0));
  } finally {
    closeSync(file);
  }
}
