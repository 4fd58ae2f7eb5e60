// Decodes base64 files of JSON bodies into the spool.
import { Readable } from 'node:stream';
import { IqaError } from '../errors.ts';
import type { SpooledFile, SpoolSession } from './spool.ts';

export function storeBase64(
  field: string,
  base64: string,
  session: SpoolSession,
  maxBytes: number,
): Promise<SpooledFile> {
  return session.write(Readable.from([decode(field, base64, maxBytes)]));
}

function decode(field: string, base64: string, maxBytes: number): Buffer {
  // Node's decoder skips characters outside the alphabet, which would yield a damaged image.
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) {
    throw new IqaError(
      'IQA_INPUT_INVALID',
      `Expected standard base64 with padding, and nothing else, for ${field}.base64`,
    );
  }
  if ((base64.length / 4) * 3 - 2 > maxBytes)
    throw new IqaError('IQA_INPUT_TOO_LARGE', `Expected at most ${maxBytes / 1e6} MB for ${field} but received more`);
  return Buffer.from(base64, 'base64');
}
