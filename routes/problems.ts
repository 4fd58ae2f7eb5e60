// The error answers of a route for its OpenAPI description: one schema, a sentence per status.
import { Problem } from '../schemas/problem.ts';

const MEANINGS = {
  400: 'The request cannot be read.',
  404: 'There is nothing of that name.',
  409: 'The id is taken, or the assessment is being worked on.',
  413: 'Too many bytes, pixels, files or fields.',
  415: 'A content type or image format that is not accepted.',
  422: 'The input does not fit, or the file is no readable picture.',
  500: 'Our fault.',
  502: 'The reasoner or the tools failed.',
  503: 'Busy, or the tools or the store of checkpoints are not available; Retry-After says when to try again.',
  504: 'It took too long.',
} as const;
type Status = keyof typeof MEANINGS;

export function problems<S extends Status>(...statuses: S[]) {
  const entries = statuses.map((status) => [status, {
    description: MEANINGS[status],
    content: { 'application/problem+json': { schema: Problem } },
  }] as const);
  return Object.fromEntries(entries) as Record<S, (typeof entries)[number][1]>;
}
