// The upload of POST /compare, as a form or as JSON with base64.
import type { FastifyRequest } from 'fastify';
import { MAX_COMPARED, type CompareJsonRequest, type CompareRequest } from '../../schemas/requests/compare.ts';
import { storeBase64 } from './base64.ts';
import type { FormFields } from './form-fields.ts';
import { assertTotalBytes, nameFile, readMultipart } from './multipart.ts';
import type { Upload, UploadReader } from './plugin.ts';
import type { SpooledFile, SpoolSession } from './spool.ts';

interface CompareFiles {
  images: readonly SpooledFile[];
  reference: SpooledFile | null;
}

export type CompareUpload = Upload<CompareFiles, CompareRequest>;

export const compareReader: UploadReader<CompareFiles, CompareJsonRequest, CompareRequest> = { readForm, readJson };

/** The limit of one assessment with a reference: a comparison takes two slots. */
const getMaxTotalBytes = (maxBytes: number): number => 2 * maxBytes;

const getFormFields = (maxBytes: number): FormFields<'images' | 'reference'> => ({
  files: { images: MAX_COMPARED, reference: 1 },
  required: [],
  json: [],
  lists: [],
  numbers: [],
  maxBytes,
  maxTotalBytes: getMaxTotalBytes(maxBytes),
});

/** As error messages name it: images[0] is the first. */
export const nameImage = (index: number): string => nameFile('images', index, MAX_COMPARED);

async function readForm(request: FastifyRequest, session: SpoolSession, maxBytes: number) {
  const { files, body } = await readMultipart(request, session, getFormFields(maxBytes));
  return { files: { images: files.get('images') ?? [], reference: files.get('reference')?.[0] ?? null }, body };
}

async function readJson(json: CompareJsonRequest, session: SpoolSession, maxBytes: number) {
  const { images: imageFields, reference: referenceField, ...fields } = json;
  const images: SpooledFile[] = [];
  // In sequence: each file is in memory as a whole while it is written.
  for (const [index, { base64 }] of imageFields.entries()) {
    images.push(await storeBase64(nameImage(index), base64, session, maxBytes));
    assertTotalBytes(images, getMaxTotalBytes(maxBytes));
  }
  const reference = referenceField ? await storeBase64('reference', referenceField.base64, session, maxBytes) : null;
  const body = { ...fields, images: images.map(({ id }) => id), ...(reference ? { reference: reference.id } : {}) };
  return { files: { images, reference }, body };
}
