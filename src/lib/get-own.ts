// Evidence is keyed by names that users choose: "constructor" must find what was recorded for it, and nothing that JavaScript inherits.

export function getOwn<T>(record: Readonly<Record<string, T>> | null | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}
