// Reads a multipart request within limits: files are hashed and written to the spool, text fields become values.
import type { MultipartFile, MultipartValue } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { IqaError } from '../errors.ts';
import {
  assertOnce,
  invalidInput,
  MAX_FIELD_BYTES,
  MAX_FIELD_NAME_BYTES,
  readField,
  shorten,
  tooLarge,
  type Form,
  type FormFields,
} from './form-fields.ts';
import type { SpoolSession } from './spool.ts';

/** More than any schema allows: list fields may be repeated, every other field occurs once. */
const MAX_FIELDS = 60;
const MAX_FILE_NAME_BYTES = 1_000;
/** RFC 2046 allows 70; the parser fails beyond about 250. */
const MAX_BOUNDARY_BYTES = 200;
/** Transfer encodings of a part. RFC 7578 deprecates all others, and parsers disagree about decoding them. */
const PLAIN_ENCODINGS = ['7bit', '8bit', 'binary'];

export async function readMultipart<F extends string>(
  request: FastifyRequest,
  session: SpoolSession,
  fields: FormFields<F>,
): Promise<Form<F>> {
  assertMultipartHeaders(request);
  const form: Form<F> = { files: new Map(), body: Object.create(null) as Record<string, unknown> };
  const maxFiles = Object.values<number>(fields.files).reduce((sum, max) => sum + max, 0);
  const limits = {
    fileSize: fields.maxBytes,
    files: maxFiles,
    fields: MAX_FIELDS,
    parts: MAX_FIELDS + maxFiles,
    fieldSize: MAX_FIELD_BYTES,
    fieldNameSize: MAX_FIELD_NAME_BYTES,
  };
  for await (const part of request.parts({ limits })) {
    assertPart(part);
    if (part.type === 'file') await readFile(part, form, session, fields);
    else readField(part, form, fields);
  }
  return { files: form.files, body: { ...form.body } };
}

/** Refuses headers on which the parser itself would fail. */
function assertMultipartHeaders({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity')
    throw new IqaError(
      'IQA_INPUT_MEDIA_TYPE',
      `Expected a form without content encoding but received ${shorten(encoding)}`,
    );
  const boundary = /boundary=(?:"([^"]*)"|([^;\s]*))/i.exec(headers['content-type'] ?? '');
  const bytes = Buffer.byteLength(boundary?.[1] ?? boundary?.[2] ?? '');
  if (bytes >= 1 && bytes <= MAX_BOUNDARY_BYTES) return;
  const received = bytes === 0 ? 'none' : `one of ${bytes}`;
  throw new IqaError(
    'IQA_INPUT_MALFORMED',
    `Expected a boundary of 1 to ${MAX_BOUNDARY_BYTES} bytes in the content type but received ${received}`,
  );
}

function assertPart(part: MultipartFile | MultipartValue): void {
  // Undefined for a part without a name, although the parser's types say otherwise.
  const name = part.fieldname as string | undefined;
  if (!name) throw invalidInput('Expected a name for every part of the form but received one without');
  if (!PLAIN_ENCODINGS.includes(part.encoding.toLowerCase())) {
    throw invalidInput(
      `Expected plain bytes for ${shorten(name)} but received the transfer encoding ${shorten(part.encoding)}`,
    );
  }
  if (part.type === 'file' && Buffer.byteLength(part.filename) > MAX_FILE_NAME_BYTES) {
    throw tooLarge(
      `Expected a file name of at most ${MAX_FILE_NAME_BYTES} bytes for ${shorten(name)} but received a longer one`,
    );
  }
}

async function readFile<F extends string>(
  part: MultipartFile,
  { files, body }: Form<F>,
  session: SpoolSession,
  fields: FormFields<F>,
): Promise<void> {
  const names = Object.keys(fields.files) as F[];
  const name = names.find((candidate) => candidate === part.fieldname);
  if (!name)
    throw invalidInput(
      `Expected files only for ${names.join(' and ')} but received one for ${shorten(part.fieldname)}`,
    );
  const max = fields.files[name];
  const earlier = files.get(name) ?? [];
  if (max === 1) assertOnce(name, body);
  if (earlier.length >= max) throw tooLarge(`Expected at most ${max} files for ${name} but received more`);
  const file = await session.write(part.file);
  if (part.file.truncated)
    throw tooLarge(
      `Expected at most ${fields.maxBytes / 1e6} MB for ${nameFile(name, earlier.length, max)} but received more`,
    );
  // Browsers send an empty nameless part for an empty file input.
  if (file.bytes === 0 && !part.filename && !fields.required.includes(name)) return;
  files.set(name, [...earlier, file]);
  assertTotalBytes([...files.values()].flat(), fields.maxTotalBytes);
  body[name] = max === 1 ? file.id : [...earlier, file].map(({ id }) => id);
}

/** As error messages name it: the field, with an index where it takes several files. */
export const nameFile = (field: string, index: number, maxFiles: number): string =>
  maxFiles === 1 ? field : `${field}[${index}]`;

export function assertTotalBytes(files: readonly { bytes: number }[], maxTotalBytes: number): void {
  if (files.reduce((sum, { bytes }) => sum + bytes, 0) > maxTotalBytes)
    throw tooLarge(`Expected at most ${maxTotalBytes / 1e6} MB for all files together but received more`);
}
