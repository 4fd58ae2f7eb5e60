// Selects the container parser for a format; formats that are always re-encoded have none.
import { withReader, type FileReader } from './reader.ts';
import { readJpegContainer } from './jpeg.ts';
import { readPngContainer } from './png.ts';
import type { ImageFormat } from '../formats/sniff.ts';
import type { SpooledFile } from '../../uploads/spool.ts';
import type { Container } from './container.ts';
import { readWebpContainer } from './webp.ts';

const PARSERS: Partial<Record<ImageFormat, (reader: FileReader) => Promise<Container>>> = {
  jpeg: readJpegContainer,
  png: readPngContainer,
  webp: readWebpContainer,
};

/** Rejects with a MalformedFileError if the file is broken or truncated, before any decoder reads it. */
export async function readContainer(file: SpooledFile, format: ImageFormat): Promise<Container | null> {
  const parse = PARSERS[format];
  return parse ? withReader(file, parse) : null;
}
