// A seeded source of chance for properties: the same seed, the same cases, on every machine.
import { createRandom } from './images/images.ts';

export interface Random {
  next: () => number;
  below: (limit: number) => number;
  between: (low: number, high: number) => number;
  pick: <T>(items: readonly T[]) => T;
  chance: (share: number) => boolean;
  /** So many different ones, in the order of the list. */
  some: <T>(items: readonly T[], count: number) => T[];
}

export function createChance(seed: number): Random {
  const next = createRandom(seed);
  const below = (limit: number): number => Math.floor(next() * limit);
  const pick = <T>(items: readonly T[]): T => {
    if (items.length === 0) throw new RangeError('Expected something to pick from');
    return items[below(items.length)] as T;
  };
  return {
    next,
    below,
    pick,
    between: (low, high) => low + next() * (high - low),
    chance: (share) => next() < share,
    some(items, count) {
      const left = [...items];
      while (left.length > count) left.splice(below(left.length), 1);
      return left;
    },
  };
}
