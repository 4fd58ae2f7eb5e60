// Copies the picture out of its file: pixels byte for byte, without EXIF, GPS, texts, previews or anything that was hung on.
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { SpooledFile, SpoolSession } from '../../uploads/spool.ts';
import { withReader } from './reader.ts';
import { isWhole, type Structure } from './container.ts';

/** The first bytes of the picture, over whatever stands between them in the file. */
export async function beginningOf(file: SpooledFile, structure: Structure, bytes: number): Promise<Buffer> {
  return withReader(file, async ({ read }) => {
    const pieces: Buffer[] = [];
    let missing = bytes;
    for (const part of structure.parts) {
      if (missing <= 0) break;
      const piece = Buffer.isBuffer(part) ? part : await read(part[0], Math.min(missing, part[1] - part[0]));
      pieces.push(Buffer.from(piece));
      missing -= piece.length;
    }
    return Buffer.concat(pieces);
  });
}

const CHUNK_BYTES = 262_144;

/** The file itself when there is nothing to leave out. */
export async function copyPicture(
  file: SpooledFile,
  structure: Structure,
  session: SpoolSession,
): Promise<{ path: string; bytes: number; sha256: string }> {
  if (isWhole(structure, file.bytes)) return { path: file.path, bytes: file.bytes, sha256: file.sha256 };
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
        for (const part of structure.parts) {
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
