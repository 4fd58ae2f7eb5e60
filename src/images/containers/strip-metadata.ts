// Copies the encoded image byte for byte, without EXIF, GPS, text, previews or trailing data.
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { SpooledFile, SpoolSession } from '../../uploads/spool.ts';
import { withReader } from './reader.ts';
import { coversWholeFile, type Container } from './container.ts';

/** The first bytes of the image, skipping everything that is stripped. */
export async function readImageStart(file: SpooledFile, container: Container, bytes: number): Promise<Buffer> {
  return withReader(file, async ({ read }) => {
    const pieces: Buffer[] = [];
    let missing = bytes;
    for (const part of container.parts) {
      if (missing <= 0) break;
      const piece = Buffer.isBuffer(part) ? part : await read(part[0], Math.min(missing, part[1] - part[0]));
      pieces.push(Buffer.from(piece));
      missing -= piece.length;
    }
    return Buffer.concat(pieces);
  });
}

const CHUNK_BYTES = 262_144;

/** Returns the file itself if there is nothing to strip. */
export async function copyImageData(
  file: SpooledFile,
  container: Container,
  session: SpoolSession,
): Promise<{ path: string; bytes: number; sha256: string }> {
  if (coversWholeFile(container, file.bytes)) return { path: file.path, bytes: file.bytes, sha256: file.sha256 };
  return session.produce(async (path) => {
    const hash = createHash('sha256');
    const output = await open(path, 'wx', 0o600);
    let bytes = 0;
    const write = async (data: Buffer) => {
      hash.update(data);
      await output.write(data);
      bytes += data.length;
    };
    try {
      await withReader(file, async ({ read }) => {
        for (const part of container.parts) {
          if (Buffer.isBuffer(part)) await write(part);
          else
            for (let [at, end] = part; at < end; at += CHUNK_BYTES)
              await write(await read(at, Math.min(CHUNK_BYTES, end - at)));
        }
      });
    } finally {
      await output.close();
    }
    return { path, bytes, sha256: hash.digest('hex') };
  });
}
