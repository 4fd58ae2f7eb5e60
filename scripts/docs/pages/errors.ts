// Generates docs/errors.md from the table of error codes.
import { ERROR_KINDS } from '../../../src/errors.ts';
import { generatedNote, table } from '../page.ts';

export function errorsPage(): string {
  const rows = Object.entries(ERROR_KINDS).map(([code, { status, title, retryable }]) => [
    `<a id="${code.toLowerCase()}"></a>\`${code}\``,
    String(status),
    title,
    retryable ? 'yes' : 'no',
  ]);
  return [
    generatedNote('src/errors.ts'),
    '# Error codes',
    '',
    'Every error on every route is `application/problem+json` (RFC 9457) with `type`, `title`, `status`, `detail`, `code` and `request_id`.',
    'Validation errors add `errors`: for each field its path, what was expected and what was received. `detail` says what to do.',
    '',
    table(['code', 'status', 'meaning', 'the same request may succeed later'], rows),
    '',
  ].join('\n');
}
