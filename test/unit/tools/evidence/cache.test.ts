// The result cache: eviction, counters, keys.
import t from 'tap';
import { createResultCache, resultCacheKey } from '../../../../src/tools/evidence/cache.ts';
import { toolEvent } from '../../../support/sidecar/sidecar-events.ts';

t.test(
  'evicts the least recently used, counts hits and misses, and keys by all that a result depends on',
  async (t) => {
    const cache = createResultCache(2);
    cache.set('a', toolEvent('a'));
    cache.set('b', toolEvent('b'));
    t.strictSame(cache.get('a'), toolEvent('a'));
    cache.set('c', toolEvent('c'));
    t.equal(cache.get('b'), undefined);
    t.strictSame(cache.statistics(), { entries: 2, hits: 1, misses: 1 });
    const parts = { image: 'i', reference: null, jpegQuality: null, box: null, what: 'SSIM', version: '1' };
    const keys = [
      parts,
      { ...parts, image: 'j' },
      { ...parts, reference: 'r' },
      { ...parts, jpegQuality: 5 },
      { ...parts, box: [1, 2, 3, 4] },
      { ...parts, what: 'GMSD' },
      { ...parts, version: '2' },
    ].map(resultCacheKey);
    t.equal(new Set(keys).size, keys.length);
  },
);
