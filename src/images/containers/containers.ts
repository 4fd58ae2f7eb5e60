// Which walker reads which format; formats that are decoded here in any case need none.
import { withReader, type FileReader } from './reader.ts';
import { readJpegStructure } from './jpeg.ts';
import { readPngStructure } from './png.ts';
import type { ImageFormat } from '../formats/sniff.ts';
import type { SpooledFile } from '../../uploads/spool.ts';
import type { Structure } from './container.ts';
import { readWebpStructure } from './webp.ts';

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
