// Results of the sidecar by the hash of what it measured: the same pixels are never measured twice.
import { LRUCache } from 'lru-cache';

export interface ResultCache {
  get: <T extends object>(key: string) => T | undefined;
  /** Looks without counting. */
  has: (key: string) => boolean;
  set: (key: string, value: object) => void;
  statistics: () => { entries: number; hits: number; misses: number };
}

export function createResultCache(entries: number): ResultCache {
  const cache = new LRUCache<string, object>({ max: entries });
  let hits = 0;
  let misses = 0;
  return {
    get<T extends object>(key: string) {
      const found = cache.get(key) as T | undefined;
      if (found) hits += 1;
      else misses += 1;
      return found;
    },
    has: (key) => cache.has(key),
    set: (key, value) => void cache.set(key, value),
    statistics: () => ({ entries: cache.size, hits, misses }),
  };
}

export interface KeyParts {
  image: string;
  reference: string | null;
  jpegQuality: number | null;
  box: readonly number[] | null;
  what: string;
  version: string;
}

/** What is measured, on which pixels, by which version: all that a value depends on. */
export function cacheKey(parts: KeyParts): string {
  return [
    parts.image,
    parts.reference ?? '-',
    parts.jpegQuality ?? '-',
    parts.box?.join(',') ?? '-',
    parts.what,
    parts.version,
  ].join('|');
}
