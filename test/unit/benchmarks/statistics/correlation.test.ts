// Correlations against published and hand-computed values, and their properties.
import t from 'tap';
import { krcc, plcc, computeRanks, rmse, srcc } from '../../../../benchmarks/statistics/correlation.ts';
import { createRandom } from '../../../../benchmarks/statistics/random.ts';

const near = (
  t: { ok: (value: boolean, message: string) => unknown },
  value: number,
  expected: number,
  tolerance = 1e-12,
) => t.ok(Math.abs(value - expected) <= tolerance, `${value} is ${expected}`);

t.test('worked examples', async (t) => {
  // The textbook example of IQ and hours of television: ρ = −29/165.
  near(t, srcc([106, 100, 86, 101, 99, 103, 97, 113, 112, 110], [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]), -29 / 165);
  near(t, plcc([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]), 0.8);
  near(t, krcc([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]), 0.6);
  // Of fifteen pairs twelve agree, one does not, and one is tied on either side: (12 − 1) / √(14 · 14).
  near(t, krcc([1, 2, 2, 3, 4, 5], [1, 2, 3, 3, 5, 4]), (12 - 1) / 14);
  near(t, rmse([1, 2, 3], [1, 4, 1]), Math.sqrt(8 / 3));
  t.strictSame(computeRanks([10, 30, 20, 30, 5]), [2, 4.5, 3, 4.5, 1]);
});

t.test('properties: bounds, symmetry, monotone maps, reversal; τ agrees with counting every pair', async (t) => {
  const random = createRandom(11);
  for (let round = 0; round < 40; round += 1) {
    const length = 3 + Math.floor(random() * 40);
    // Few distinct values: many ties.
    const draw = () => Array.from({ length }, () => Math.floor(random() * (round % 2 === 0 ? 6 : 1e6)));
    const [a, b] = [draw(), draw()];
    if (new Set(a).size < 2 || new Set(b).size < 2) continue;
    for (const figure of [srcc, plcc, krcc]) {
      const value = figure(a, b);
      t.ok(value >= -1 - 1e-12 && value <= 1 + 1e-12, `${figure.name} ${value}`);
      near(t, figure(b, a), value, 1e-9);
      near(
        t,
        figure(
          a.map((item) => -item),
          b,
        ),
        -value,
        1e-9,
      );
      near(t, figure(a, a), 1, 1e-9);
    }
    near(
      t,
      srcc(
        a.map((item) => Math.exp(item / 1e5)),
        b,
      ),
      srcc(a, b),
      1e-9,
    );
    near(
      t,
      plcc(
        a.map((item) => 3 * item - 7),
        b,
      ),
      plcc(a, b),
      1e-9,
    );
    near(t, krcc(a, b), countedTau(a, b), 1e-9);
  }
});

function countedTau(a: readonly number[], b: readonly number[]): number {
  let [order, untiedA, untiedB] = [0, 0, 0];
  for (let i = 0; i < a.length; i += 1) {
    for (let j = 0; j < i; j += 1) {
      const [x, y] = [Math.sign(a[i]! - a[j]!), Math.sign(b[i]! - b[j]!)];
      order += x * y;
      untiedA += Math.abs(x);
      untiedB += Math.abs(y);
    }
  }
  return order / Math.sqrt(untiedA * untiedB);
}

t.test('constant values have no correlation, and lengths must match', async (t) => {
  t.ok(
    Number.isNaN(srcc([1, 1, 1], [1, 2, 3])) &&
      Number.isNaN(plcc([1, 2, 3], [4, 4, 4])) &&
      Number.isNaN(krcc([2, 2], [1, 3])),
  );
  for (const figure of [srcc, plcc, krcc, rmse]) t.throws(() => figure([1, 2], [1]), RangeError);
});
