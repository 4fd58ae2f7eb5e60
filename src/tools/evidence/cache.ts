// An LRU cache of sidecar results, keyed by the hash of the files they were computed from.
import { LRUCache } from 'lru-cache';
import type { ResultEvent } from './in-flight.ts';

export interface ResultCache {
  get: (key: string) => ResultEvent | undefined;
  /** Does not count as a hit or miss. */
  has: (key: string) => boolean;
  set: (key: string, event: ResultEvent) => void;
  statistics: () => { entries: number; hits: number; misses: number };
}

export function createResultCache(entries: number): ResultCache {
  const cache = new LRUCache<string, ResultEvent>({ max: entries });
  let hits = 0;
  let misses = 0;
  return {
    get(key) {
      const found = cache.get(key);
      if (found) hits += 1;
      else misses += 1;
      return found;
    },
    has: (key) => cache.has(key),
    set: (key, event) => void cache.set(key, event),
    statistics: () => ({ entries: cache.size, hits, misses }),
  };
}

interface KeyParts {
  image: string;
  reference: string | null;
  jpegQuality: number | null;
  box: readonly number[] | null;
  /** Tool and kind of output, or "measurements". */
  what: string;
  version: string;
}

/** Everything a result depends on. */
export function resultCacheKey(parts: KeyParts): string {
  return [
    parts.image,
    parts.reference ?? '-',
    parts.jpegQuality ?? '-',
    parts.box?.join(',') ?? '-',
    parts.what,
    parts.version,
  ].join('|');
}
