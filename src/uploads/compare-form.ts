// The first step of a comparison: the pictures of a form or of JSON on the spool, in the order in which they came.
import type { FastifyRequest } from 'fastify';
import { MAX_COMPARED, type CompareJsonRequest, type CompareRequest } from '../../schemas/requests/compare.ts';
import { nameFile, receiveForm, refuseTotal, type FormShape } from './multipart.ts';
import { storeBase64 } from './base64.ts';
import type { SpooledFile, SpoolSession } from './spool.ts';

export interface ComparisonFiles {
  images: readonly SpooledFile[];
  reference: SpooledFile | null;
}

/** Together as large as image and reference of one assessment: less memory and disk than the two seats that a comparison takes stand for. */
const totalOf = (maxBytes: number): number => 2 * maxBytes;

const shapeOf = (maxBytes: number): FormShape<'images' | 'reference'> => ({
  files: { images: MAX_COMPARED, reference: 1 },
  required: [],
  json: [],
  lists: [],
  numbers: [],
  maxBytes,
  maxTotalBytes: totalOf(maxBytes),
});

/** As sentences call it: images[0] is the first. */
export const nameImage = (index: number): string => nameFile('images', index, MAX_COMPARED);

interface ComparisonUpload<Body> {
  files: ComparisonFiles;
  body: Body;
}

export async function receiveComparison(
  request: FastifyRequest,
  session: SpoolSession,
  maxBytes: number,
): Promise<ComparisonUpload<Record<string, unknown>>> {
  const { files, body } = await receiveForm(request, session, shapeOf(maxBytes));
  return { files: { images: files.get('images') ?? [], reference: files.get('reference')?.[0] ?? null }, body };
}

export async function receiveJsonComparison(
  body: CompareJsonRequest,
  session: SpoolSession,
  maxBytes: number,
): Promise<ComparisonUpload<CompareRequest>> {
  const { images, reference, ...rest } = body;
  const stored: SpooledFile[] = [];
  // One after the other: each is whole in memory while it is written.
  for (const [index, { base64 }] of images.entries()) {
    stored.push(await storeBase64(nameImage(index), base64, session, maxBytes));
    refuseTotal(
      stored.reduce((sum, { bytes }) => sum + bytes, 0),
      totalOf(maxBytes),
    );
  }
  const storedReference = reference ? await storeBase64('reference', reference.base64, session, maxBytes) : null;
  return {
    files: { images: stored, reference: storedReference },
    body: {
      ...rest,
      images: stored.map(({ id }) => id),
      ...(storedReference ? { reference: storedReference.id } : {}),
    },
  };
}
