// The first step of the flow: what POST /assess was sent becomes spooled files and plain fields, within limits, before any schema sees it.
import type { FastifyRequest } from 'fastify';
import { IqaError } from '../errors.ts';
import { receiveForm, type FormShape } from './multipart.ts';
import type { SpooledFile, SpoolSession } from './spool.ts';

export type FileField = 'image' | 'reference';

export interface Upload {
  files: Map<FileField, SpooledFile>;
  /** What the published schema is checked against: a file is represented by its handle, a string. */
  body: Record<string, unknown>;
}

const shapeOf = (maxBytes: number): FormShape<FileField> => ({
  files: { image: 1, reference: 1 },
  required: ['image'],
  json: ['choices', 'maps', 'regions', 'prior_context'],
  lists: ['choices', 'maps'],
  numbers: ['max_replan_iterations'],
  maxBytes,
  maxTotalBytes: 2 * maxBytes,
});

export async function receiveUpload(request: FastifyRequest, session: SpoolSession, maxBytes: number): Promise<Upload> {
  const { files, body } = await receiveForm(request, session, shapeOf(maxBytes));
  if (!files.has('image')) throw new IqaError('IQA_INPUT_INVALID', 'Expected a file for image but received none');
  return { files: new Map([...files].flatMap(([field, [file]]) => (file ? [[field, file]] : []))), body };
}
