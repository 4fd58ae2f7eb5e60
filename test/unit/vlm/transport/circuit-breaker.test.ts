// The circuit breaker.
import t from 'tap';
import { createCircuitBreaker } from '../../../../src/vlm/transport/circuit-breaker.ts';

t.test('opens after consecutive failures, allows one probe, then closes or stays open', async (t) => {
  let now = 0;
  const breaker = createCircuitBreaker({ failures: 2, pause: 100 }, () => now);
  breaker.onFailure();
  breaker.onSuccess();
  breaker.onFailure();
  t.equal(breaker.allow(), true, 'only failures in a row count');
  breaker.onFailure();
  t.equal(breaker.allow(), false);
  now = 100;
  t.same([breaker.allow(), breaker.allow()], [true, false], 'one probe at a time');
  breaker.onNeutral();
  t.equal(breaker.allow(), true, 'a neutral probe allows the next');
  breaker.onFailure();
  t.equal(breaker.allow(), false);
  now = 200;
  t.equal(breaker.allow(), true);
  breaker.onSuccess();
  t.same([breaker.allow(), breaker.allow()], [true, true]);
});
