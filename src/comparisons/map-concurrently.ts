// Maps with limited concurrency; the first failure stops the rest.
import { isAbort } from '../errors.ts';

/**
 * Maps with at most `limit` calls at once. The first failure calls `onFailure` and prevents further calls. When all calls have settled,
 * it rejects with the failure of the earliest item; aborts, which `onFailure` may have caused, count only if there is nothing else.
 */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item, index: number) => Promise<Result>,
  onFailure: () => void,
): Promise<Result[]> {
  const results: Result[] = [];
  const failures = new Map<number, unknown>();
  const entries = items.entries();
  const worker = async () => {
    for (const [index, item] of entries) {
      try {
        results[index] = await work(item, index);
      } catch (error) {
        failures.set(index, error);
        onFailure();
      }
      if (failures.size > 0) return;
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
  const errors = [...failures].toSorted(([a], [b]) => a - b).map(([, error]) => error);
  if (errors.length > 0) throw errors.find((error) => !isAbort(error)) ?? errors[0];
  return results;
}
