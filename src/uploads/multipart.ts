// A multipart request, read within limits: files go to the spool while they are hashed, fields become plain values. Which there are, the route says.
import type { MultipartFile, MultipartValue } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { IqaError } from '../errors.ts';
import type { SpooledFile, SpoolSession } from './spool.ts';

export interface FormShape<F extends string> {
  /** How many files each of these fields may bring; a field that may bring several is repeated, a file each. */
  files: Readonly<Record<F, number>>;
  /** The file fields that must not be left empty, where a form's empty text stands for "left out". */
  required: readonly string[];
  json: readonly string[];
  /** May be repeated: each part is one item. */
  lists: readonly string[];
  numbers: readonly string[];
  /** Of one file. */
  maxBytes: number;
  /** Of all files together. */
  maxTotalBytes: number;
}

export interface Form<F extends string> {
  files: Map<F, SpooledFile[]>;
  /** What the published schema is checked against: a file is represented by its handle, a string. */
  body: Record<string, unknown>;
}

/** More than any schema allows: lists may be repeated, every other field comes once. */
const MAX_FIELDS = 60;
const MAX_FIELD_BYTES = 100_000;
const MAX_FIELD_NAME_BYTES = 100;
const MAX_FILE_NAME_BYTES = 1_000;
/** RFC 2046 allows 70; the parser breaks beyond about 250. */
const MAX_BOUNDARY_BYTES = 200;
const MAX_DEPTH = 32;
/** Of a part. RFC 7578 allows no others in forms, and who decodes them is never clear. */
const PLAIN_ENCODINGS = ['7bit', '8bit', 'binary'];

export async function receiveForm<F extends string>(
  request: FastifyRequest,
  session: SpoolSession,
  shape: FormShape<F>,
): Promise<Form<F>> {
  refuseStrangeForm(request);
  const form: Form<F> = { files: new Map(), body: Object.create(null) as Record<string, unknown> };
  const files = Object.values<number>(shape.files).reduce((sum, most) => sum + most, 0);
  const limits = {
    fileSize: shape.maxBytes,
    files,
    fields: MAX_FIELDS,
    parts: MAX_FIELDS + files,
    fieldSize: MAX_FIELD_BYTES,
    fieldNameSize: MAX_FIELD_NAME_BYTES,
  };
  for await (const part of request.parts({ limits })) {
    refuseStrangePart(part);
    if (part.type === 'file') await receiveFile(part, form, session, shape);
    else receiveField(part, form, shape);
  }
  return { files: form.files, body: { ...form.body } };
}

/** What the parser itself would stumble over. */
function refuseStrangeForm({ headers }: FastifyRequest): void {
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

function refuseStrangePart(part: MultipartFile | MultipartValue): void {
  // Whatever its types say, the parser gives none where the part has none.
  const name = part.fieldname as string | undefined;
  if (!name) throw invalid('Expected a name for every part of the form but received one without');
  if (!PLAIN_ENCODINGS.includes(part.encoding.toLowerCase())) {
    throw invalid(
      `Expected plain bytes for ${shorten(name)} but received the transfer encoding ${shorten(part.encoding)}`,
    );
  }
  if (part.type === 'file' && Buffer.byteLength(part.filename) > MAX_FILE_NAME_BYTES) {
    throw new IqaError(
      'IQA_INPUT_TOO_LARGE',
      `Expected a file name of at most ${MAX_FILE_NAME_BYTES} bytes for ${shorten(name)} but received a longer one`,
    );
  }
}

async function receiveFile<F extends string>(
  part: MultipartFile,
  { files, body }: Form<F>,
  session: SpoolSession,
  shape: FormShape<F>,
): Promise<void> {
  const fields = Object.keys(shape.files) as F[];
  const field = fields.find((name) => name === part.fieldname);
  if (!field)
    throw invalid(`Expected files only for ${fields.join(' and ')} but received one for ${shorten(part.fieldname)}`);
  const most = shape.files[field];
  const earlier = files.get(field) ?? [];
  if (most === 1) refuseTwice(field, body);
  if (earlier.length >= most)
    throw new IqaError('IQA_INPUT_TOO_LARGE', `Expected at most ${most} files for ${field} but received more`);
  const file = await session.write(part.file);
  if (part.file.truncated)
    throw new IqaError(
      'IQA_INPUT_TOO_LARGE',
      `Expected at most ${shape.maxBytes / 1e6} MB for ${nameFile(field, earlier.length, most)} but received more`,
    );
  // Browsers send an empty nameless part for a file input that was left empty.
  if (file.bytes === 0 && !part.filename && !shape.required.includes(field)) return;
  files.set(field, [...earlier, file]);
  refuseTotal(
    [...files.values()].flat().reduce((sum, { bytes }) => sum + bytes, 0),
    shape.maxTotalBytes,
  );
  body[field] = most === 1 ? file.id : [...earlier, file].map(({ id }) => id);
}

/** As it is called in sentences: the field, and where it brings several files, which of them. */
export const nameFile = (field: string, index: number, most: number): string =>
  most === 1 ? field : `${field}[${index}]`;

export function refuseTotal(bytes: number, maxTotalBytes: number): void {
  if (bytes > maxTotalBytes)
    throw new IqaError(
      'IQA_INPUT_TOO_LARGE',
      `Expected at most ${maxTotalBytes / 1e6} MB for all files together but received more`,
    );
}

function receiveField<F extends string>(part: MultipartValue, { body }: Form<F>, shape: FormShape<F>): void {
  const name = part.fieldname;
  if (part.fieldnameTruncated || Buffer.byteLength(name) > MAX_FIELD_NAME_BYTES) {
    throw new IqaError(
      'IQA_INPUT_TOO_LARGE',
      `Expected field names of at most ${MAX_FIELD_NAME_BYTES} bytes but received a longer one`,
    );
  }
  // Forms send an empty text for what was left out, a file that was not chosen included. A blank query is an error of its own.
  if (part.value === '' && name !== 'query' && !shape.required.includes(name)) return;
  // Text must never be taken for a path to a file.
  if (Object.hasOwn(shape.files, name)) throw invalid(`Expected a file for ${name} but received text`);
  if (part.valueTruncated)
    throw new IqaError(
      'IQA_INPUT_TOO_LARGE',
      `Expected at most ${MAX_FIELD_BYTES} bytes for ${shorten(name)} but received more`,
    );
  if (shape.lists.includes(name) && typeof part.value === 'string' && !/^\s*\[/.test(part.value)) {
    const items: unknown = body[name] ?? [];
    if (!Array.isArray(items)) refuseTwice(name, body);
    body[name] = [...(items as unknown[]), part.value];
    return;
  }
  refuseTwice(name, body);
  // A part declared as application/json arrives parsed.
  const value: unknown = typeof part.value === 'string' ? valueOf(name, part.value, shape) : part.value;
  refuseDepth(value, shorten(name));
  body[name] = value;
}

/** Before anything walks the value: the schema's own check is recursive. */
export function refuseDepth(value: unknown, name: string): void {
  if (depthOf(value) > MAX_DEPTH)
    throw invalid(`Expected at most ${MAX_DEPTH} levels of nesting for ${name} but received more`);
}

/** Level by level, without recursion: the very thing it guards against is a stack that overflows. */
function depthOf(value: unknown): number {
  let level = [value];
  let depth = 0;
  while (level.length > 0 && depth <= MAX_DEPTH) {
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null ? (Object.values(item) as unknown[]) : [],
    );
    depth += 1;
  }
  return depth;
}

/** Text fields that mean something else are read as such; the schema then says whether the value fits. */
function valueOf(name: string, text: string, { numbers, json }: Pick<FormShape<string>, 'numbers' | 'json'>): unknown {
  if (numbers.includes(name)) return /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : text;
  if (!json.includes(name)) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(`Expected JSON for ${name} but received ${shorten(JSON.stringify(text))}`);
  }
}

function refuseTwice(name: string, body: Record<string, unknown>): void {
  if (name in body) throw invalid(`Expected ${shorten(name)} once but received it twice`);
}

const invalid = (message: string) => new IqaError('IQA_INPUT_INVALID', message);
const shorten = (text: string) => (text.length > 60 ? `${text.slice(0, 57)}...` : text);
