// The same first step for JSON: files that came as base64 go to the spool, and a handle takes their place in the body.
import { Readable } from 'node:stream';
import type { AssessJsonRequest, AssessRequest } from '../../schemas/requests/assess.ts';
import { IqaError } from '../errors.ts';
import type { FileField, Upload } from './assess-form.ts';
import type { SpooledFile, SpoolSession } from './spool.ts';

export async function receiveJson(
  body: AssessJsonRequest,
  session: SpoolSession,
  maxBytes: number,
): Promise<Omit<Upload, 'body'> & { body: AssessRequest }> {
  const { image, reference, ...rest } = body;
  const files: Upload['files'] = new Map();
  const store = async (field: FileField, base64: string): Promise<string> => {
    const file = await storeBase64(field, base64, session, maxBytes);
    files.set(field, file);
    return file.id;
  };
  return {
    files,
    body: {
      ...rest,
      image: await store('image', image.base64),
      ...(reference ? { reference: await store('reference', reference.base64) } : {}),
    },
  };
}

export function storeBase64(
  field: string,
  base64: string,
  session: SpoolSession,
  maxBytes: number,
): Promise<SpooledFile> {
  return session.write(Readable.from([decode(field, base64, maxBytes)]));
}

function decode(field: string, base64: string, maxBytes: number): Buffer {
  // Node's decoder passes over what it does not know, so that a wrong alphabet would become a damaged picture.
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
