// Reads own properties only.
/** Reads a record whose keys users choose: "constructor" must not find what JavaScript inherits. */
export function getOwn<T>(record: Readonly<Record<string, T>> | null | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}
