// Exponential backoff.
import t from 'tap';
import { backoffMs } from '../../../../src/vlm/transport/backoff.ts';

t.test('waits grow up to the maximum and honour Retry-After', async (t) => {
  const settings = { first: 100, longest: 1_000 };
  t.same(
    [1, 2, 3, 9].map((attempt) => backoffMs(attempt, settings, undefined, () => 1)),
    [100, 200, 400, 1_000],
  );
  t.same(
    [1, 2].map((attempt) => backoffMs(attempt, settings, undefined, () => 0)),
    [50, 100],
    'half of it is random',
  );
  t.equal(
    backoffMs(1, settings, 3_000, () => 0),
    3_000,
  );
  t.equal(
    backoffMs(1, settings, 0, () => 1),
    50,
  );
});
