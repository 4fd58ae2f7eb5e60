// Checks that a path given to PlannerInput is a readable image file inside the allowed folder.
import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { extname, resolve, sep } from 'node:path';
import { FORMATS, sniff, SNIFF_BYTES } from './formats/sniff.ts';

/** Spooled files have no extension. */
const ALLOWED_EXTENSIONS: readonly string[] = ['', ...Object.values(FORMATS).flat()];

/** Returns the rule that `PlannerInput` applies to each path: an error message, or null. Links are resolved; the file must lie below `root`. */
export function createImagePathCheck(root: string): (path: string) => string | null {
  const base = realpathSync(root);
  const isInside = (path: string) => path.startsWith(base.endsWith(sep) ? base : base + sep);
  return (path) => {
    const absolute = resolve(base, path);
    // Before any disk access: a path outside must not even reveal whether it exists.
    if (path.includes('\0') || path.split(/[\\/]/).includes('..') || !isInside(absolute))
      return `Path traversal is not allowed: ${path}`;
    if (!ALLOWED_EXTENSIONS.includes(extname(path).toLowerCase())) return `Invalid image format: ${path}`;
    try {
      const real = realpathSync(absolute);
      if (!isInside(real)) return `Path traversal is not allowed: ${path}`;
      if (!statSync(real).isFile()) return `Image file not found: ${path}`;
      const sniffed = sniff(readHead(real));
      return sniffed && 'format' in sniffed ? null : `Invalid image format: ${path}`;
    } catch {
      return `Image file not found: ${path}`;
    }
  };
}

function readHead(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(SNIFF_BYTES);
    return head.subarray(0, readSync(file, head, 0, SNIFF_BYTES, 0));
  } finally {
    closeSync(file);
  }
}
