// The upload of POST /assess, as a form or as JSON with base64.
import type { FastifyRequest } from 'fastify';
import type { AssessJsonRequest, AssessRequest } from '../../schemas/requests/assess.ts';
import { IqaError } from '../errors.ts';
import { storeBase64 } from './base64.ts';
import type { FormFields } from './form-fields.ts';
import { readMultipart } from './multipart.ts';
import type { Upload, UploadReader } from './plugin.ts';
import type { SpooledFile, SpoolSession } from './spool.ts';

export interface AssessFiles {
  image: SpooledFile;
  reference: SpooledFile | null;
}

export type AssessUpload = Upload<AssessFiles, AssessRequest>;

export const assessReader: UploadReader<AssessFiles, AssessJsonRequest, AssessRequest> = { readForm, readJson };

const getFormFields = (maxBytes: number): FormFields<'image' | 'reference'> => ({
  files: { image: 1, reference: 1 },
  required: ['image'],
  json: ['choices', 'maps', 'regions', 'prior_context'],
  lists: ['choices', 'maps'],
  numbers: ['max_replan_iterations'],
  maxBytes,
  maxTotalBytes: 2 * maxBytes,
});

async function readForm(request: FastifyRequest, session: SpoolSession, maxBytes: number) {
  const { files, body } = await readMultipart(request, session, getFormFields(maxBytes));
  const [image] = files.get('image') ?? [];
  if (!image) throw new IqaError('IQA_INPUT_INVALID', 'Expected a file for image but received none');
  return { files: { image, reference: files.get('reference')?.[0] ?? null }, body };
}

async function readJson(json: AssessJsonRequest, session: SpoolSession, maxBytes: number) {
  const { image: imageField, reference: referenceField, ...fields } = json;
  const image = await storeBase64('image', imageField.base64, session, maxBytes);
  const reference = referenceField ? await storeBase64('reference', referenceField.base64, session, maxBytes) : null;
  const body = { ...fields, image: image.id, ...(reference ? { reference: reference.id } : {}) };
  return { files: { image, reference }, body };
}
