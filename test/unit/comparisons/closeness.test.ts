// The closeness rule: known values and properties.
import t from 'tap';
import { computeBetterProbability, computeSpread } from '../../../src/comparisons/closeness.ts';
import { normalCdf } from '../../../src/comparisons/normal.ts';

const rule = { decided_at: 0.8, shared_error: 0, spread_without_interval: 0.7 };

t.test('the normal distribution agrees with its tables', async (t) => {
  const table: [number, number][] = [
    [0, 0.5],
    [1, 0.8413447460685429],
    [1.2815515655446004, 0.9],
    [1.959963984540054, 0.975],
    [3, 0.9986501019683699],
    [-2, 0.02275013194817921],
    [5, 0.9999997133484281],
  ];
  for (const [z, share] of table) t.ok(Math.abs(normalCdf(z) - share) < 1e-10, `${z}: ${normalCdf(z)}`);
  t.ok(Math.abs(normalCdf(-6) / 9.865876450376981e-10 - 1) < 1e-9, 'far out in the tail');
  for (let z = -8; z < 8; z += 0.05) {
    t.ok(
      normalCdf(z + 0.05) >= normalCdf(z) && Math.abs(normalCdf(z) + normalCdf(-z) - 1) < 1e-12,
      `monotone and symmetric at ${z}`,
    );
  }
});

t.test(
  'an 80 % interval of ±1.2816 has a standard deviation of 1; the wider side counts; none is the fallback',
  async (t) => {
    const near = (value: number, expected: number) => {
      t.ok(Math.abs(value - expected) < 1e-9, `${value} is ${expected}`);
    };
    near(computeSpread({ value: 3, interval: [3 - 1.2815515655446004, 3 + 1.2815515655446004] }, rule), 1);
    near(computeSpread({ value: 4.8, interval: [4.8 - 1.2815515655446004 / 2, 5] }, rule), 0.5);
    near(computeSpread({ value: 3, interval: null }, rule), 0.7);
    near(computeSpread({ value: 3, interval: [3, 3] }, rule), 0);
  },
);

t.test(
  'the probability: even for equals, surer with distance, less sure with spread, surer with shared errors',
  async (t) => {
    t.equal(computeBetterProbability(3, 3, [0.5, 0.2], rule), 0.5);
    // A difference of one standard deviation of the difference.
    t.ok(Math.abs(computeBetterProbability(3.5, 3, [0.3, 0.4], rule) - 0.8413447460685429) < 1e-10);
    for (let step = 1; step < 20; step += 1) {
      const [a, b, s] = [3 + step / 10, 3, step / 10];
      t.ok(
        Math.abs(computeBetterProbability(a, b, [0.5, s], rule) + computeBetterProbability(b, a, [s, 0.5], rule) - 1) <
          1e-12,
        'one of them is',
      );
      t.ok(computeBetterProbability(a + 0.1, b, [0.5, s], rule) > computeBetterProbability(a, b, [0.5, s], rule));
      t.ok(computeBetterProbability(a, b, [0.5, s + 0.1], rule) < computeBetterProbability(a, b, [0.5, s], rule));
      t.ok(
        computeBetterProbability(a, b, [0.5, 0.5], { ...rule, shared_error: 0.5 }) >
          computeBetterProbability(a, b, [0.5, 0.5], rule),
      );
    }
    t.equal(computeBetterProbability(4, 3, [0, 0], rule), 1);
    t.equal(computeBetterProbability(3, 4, [0.5, 0.5], { ...rule, shared_error: 1 }), 0);
    t.equal(computeBetterProbability(3, 3, [0, 0], rule), 0.5);
  },
);
