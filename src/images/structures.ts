// Which walker reads which format; formats that are decoded here in any case need none.
import { withReader, type FileReader } from './file-reader.ts';
import { readJpegStructure } from './jpeg-structure.ts';
import { readPngStructure } from './png-structure.ts';
import type { ImageFormat } from './sniffing.ts';
import type { SpooledFile } from './spool.ts';
import type { Structure } from './structure.ts';
import { readWebpStructure } from './webp-structure.ts';

const WALKERS: Partial<Record<ImageFormat, (reader: FileReader) => Promise<Structure>>> = {
  jpeg: readJpegStructure,
  png: readPngStructure,
  webp: readWebpStructure,
};

/** Rejects with a StructureError when the file is broken or ends early: before anything decodes or scores it. */
export async function readStructure(file: SpooledFile, format: ImageFormat): Promise<Structure | null> {
  const walk = WALKERS[format];
  return walk ? withReader(file, walk) : null;
}
