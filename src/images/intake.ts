// The first step of the flow: a multipart request becomes spooled files and plain fields, within limits, before any schema sees it.
import type { MultipartFile, MultipartValue } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { IqaError } from '../errors.ts';
import type { SpooledFile, SpoolSession } from './spool.ts';

const FILE_FIELDS = ['image', 'reference'] as const;
export type FileField = (typeof FILE_FIELDS)[number];
const JSON_FIELDS = ['choices', 'maps', 'regions', 'prior_context'];
/** May be repeated: each part is one item. */
const LIST_FIELDS = ['choices', 'maps'];
const NUMBER_FIELDS = ['max_replan_iterations'];

export interface Upload {
  files: Map<FileField, SpooledFile>;
  /** What the published schema is checked against: a file is represented by its handle, a string. */
  body: Record<string, unknown>;
}

/** More than the schema allows: choices and maps may be repeated, every other field comes once. */
const MAX_FIELDS = 60;
const MAX_FIELD_BYTES = 100_000;
const MAX_FIELD_NAME_BYTES = 100;
const MAX_FILE_NAME_BYTES = 1_000;
/** RFC 2046 allows 70; the parser breaks beyond about 250. */
const MAX_BOUNDARY_BYTES = 200;
const MAX_DEPTH = 32;
/** Of a part. RFC 7578 allows no others in forms, and who decodes them is never clear. */
const PLAIN_ENCODINGS = ['7bit', '8bit', 'binary'];

export async function receiveUpload(request: FastifyRequest, session: SpoolSession, maxBytes: number): Promise<Upload> {
  refuseStrangeForm(request);
  const upload: Upload = { files: new Map(), body: Object.create(null) as Record<string, unknown> };
  const limits = {
    fileSize: maxBytes, files: FILE_FIELDS.length, fields: MAX_FIELDS, parts: MAX_FIELDS + FILE_FIELDS.length,
    fieldSize: MAX_FIELD_BYTES, fieldNameSize: MAX_FIELD_NAME_BYTES,
  };
  for await (const part of request.parts({ limits })) {
    refuseStrangePart(part);
    if (part.type === 'file') await receiveFile(part, upload, session, maxBytes);
    else receiveField(part, upload);
  }
  if (!upload.files.has('image')) throw invalid('Expected a file for image but received none');
  return { files: upload.files, body: { ...upload.body } };
}

/** What the parser itself would stumble over. */
function refuseStrangeForm({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new IqaError('IQA_INPUT_MEDIA_TYPE', `Expected a form without content encoding but received ${shorten(encoding)}`);
  const boundary = /boundary=(?:"([^"]*)"|([^;\s]*))/i.exec(headers['content-type'] ?? '');
  const bytes = Buffer.byteLength(boundary?.[1] ?? boundary?.[2] ?? '');
  if (bytes >= 1 && bytes <= MAX_BOUNDARY_BYTES) return;
  const received = bytes === 0 ? 'none' : `one of ${bytes}`;
  throw new IqaError('IQA_INPUT_MALFORMED', `Expected a boundary of 1 to ${MAX_BOUNDARY_BYTES} bytes in the content type but received ${received}`);
}

function refuseStrangePart(part: MultipartFile | MultipartValue): void {
  // Whatever its types say, the parser gives none where the part has none.
  const name = part.fieldname as string | undefined;
  if (!name) throw invalid('Expected a name for every part of the form but received one without');
  if (!PLAIN_ENCODINGS.includes(part.encoding.toLowerCase())) {
    throw invalid(`Expected plain bytes for ${shorten(name)} but received the transfer encoding ${shorten(part.encoding)}`);
  }
  if (part.type === 'file' && Buffer.byteLength(part.filename) > MAX_FILE_NAME_BYTES) {
    throw new IqaError('IQA_INPUT_TOO_LARGE', `Expected a file name of at most ${MAX_FILE_NAME_BYTES} bytes for ${shorten(name)} but received a longer one`);
  }
}

async function receiveFile(part: MultipartFile, { files, body }: Upload, session: SpoolSession, maxBytes: number): Promise<void> {
  const field = FILE_FIELDS.find((name) => name === part.fieldname);
  if (!field) throw invalid(`Expected files only for ${FILE_FIELDS.join(' and ')} but received one for ${shorten(part.fieldname)}`);
  refuseTwice(field, body);
  const file = await session.write(part.file);
  if (part.file.truncated) throw new IqaError('IQA_INPUT_TOO_LARGE', `Expected at most ${maxBytes / 1e6} MB for ${field} but received more`);
  // Browsers send an empty nameless part for a file input that was left empty.
  if (file.bytes === 0 && !part.filename && field === 'reference') return;
  files.set(field, file);
  body[field] = file.id;
}

function receiveField(part: MultipartValue, { body }: Upload): void {
  const name = part.fieldname;
  if (part.fieldnameTruncated || Buffer.byteLength(name) > MAX_FIELD_NAME_BYTES) {
    throw new IqaError('IQA_INPUT_TOO_LARGE', `Expected field names of at most ${MAX_FIELD_NAME_BYTES} bytes but received a longer one`);
  }
  // Forms send an empty text for what was left out, a file that was not chosen included. A blank query is an error of its own.
  if (part.value === '' && !['image', 'query'].includes(name)) return;
  // Text must never be taken for a path to a file.
  if ((FILE_FIELDS as readonly string[]).includes(name)) throw invalid(`Expected a file for ${name} but received text`);
  if (part.valueTruncated) throw new IqaError('IQA_INPUT_TOO_LARGE', `Expected at most ${MAX_FIELD_BYTES} bytes for ${shorten(name)} but received more`);
  if (LIST_FIELDS.includes(name) && typeof part.value === 'string' && !/^\s*\[/.test(part.value)) {
    const items: unknown = body[name] ?? [];
    if (!Array.isArray(items)) refuseTwice(name, body);
    body[name] = [...items as unknown[], part.value];
    return;
  }
  refuseTwice(name, body);
  // A part declared as application/json arrives parsed.
  const value: unknown = typeof part.value === 'string' ? valueOf(name, part.value) : part.value;
  refuseDepth(value, shorten(name));
  body[name] = value;
}

/** Before anything walks the value: the schema's own check is recursive. */
export function refuseDepth(value: unknown, name: string): void {
  if (depthOf(value) > MAX_DEPTH) throw invalid(`Expected at most ${MAX_DEPTH} levels of nesting for ${name} but received more`);
}

/** Level by level, without recursion: the very thing it guards against is a stack that overflows. */
function depthOf(value: unknown): number {
  let level = [value];
  let depth = 0;
  while (level.length > 0 && depth <= MAX_DEPTH) {
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) as unknown[] : []));
    depth += 1;
  }
  return depth;
}

/** Text fields that mean something else are read as such; the schema then says whether the value fits. */
function valueOf(name: string, text: string): unknown {
  if (NUMBER_FIELDS.includes(name)) return /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : text;
  if (!JSON_FIELDS.includes(name)) return text;
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
