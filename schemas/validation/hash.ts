// A hash of JSON values that does not depend on the order of keys.
import { createHash } from 'node:crypto';
import { isRecord } from './explain.ts';

export const hash = (value: unknown): string => createHash('sha256').update(toCanonicalJson(value)).digest('hex');

function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    isRecord(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) : item,
  );
}
