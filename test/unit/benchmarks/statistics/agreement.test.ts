// Logistic fit, bootstrap and agreement figures: known curves are recovered, intervals have their nominal coverage, seeds are deterministic.
import t from 'tap';
import { measureAgreement } from '../../../../benchmarks/statistics/agreement.ts';
import { bootstrapInterval, quantile } from '../../../../benchmarks/statistics/bootstrap.ts';
import { plcc } from '../../../../benchmarks/statistics/correlation.ts';
import { applyLogistic, fitLogistic } from '../../../../benchmarks/statistics/logistic-fit.ts';
import { createRandom, shuffle } from '../../../../benchmarks/statistics/random.ts';

const bell = (random: () => number) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

t.test('a logistic is recovered from slightly noisy data, rising or falling', async (t) => {
  for (const truth of [
    { low: 1, high: 5, middle: 0.6, width: 0.08 },
    { low: 10, high: 80, middle: 40, width: -12 },
  ]) {
    const random = createRandom(5);
    const scores = Array.from({ length: 200 }, () => truth.middle + Math.abs(truth.width) * 6 * (random() - 0.5));
    const exact = fitLogistic(
      scores,
      scores.map((score) => applyLogistic(truth, score)),
    );
    for (const score of scores)
      t.ok(
        Math.abs(applyLogistic(exact, score) - applyLogistic(truth, score)) < 1e-4 * (truth.high - truth.low),
        'exact data',
      );
    const noisy = fitLogistic(
      scores,
      scores.map((score) => applyLogistic(truth, score) + 0.02 * (truth.high - truth.low) * bell(random)),
    );
    for (const score of scores)
      t.ok(
        Math.abs(applyLogistic(noisy, score) - applyLogistic(truth, score)) < 0.03 * (truth.high - truth.low),
        'noisy data',
      );
  }
  t.throws(() => fitLogistic([1, 2, 3], [1, 2, 3]), RangeError);
});

t.test('the curve is monotone and never worse than the best constant', async (t) => {
  const random = createRandom(8);
  for (let round = 0; round < 20; round += 1) {
    const scores = Array.from({ length: 60 }, () => 1 + 4 * random());
    const ratings = scores.map((score) => score * random() + bell(random));
    const curve = fitLogistic(scores, ratings);
    const mean = ratings.reduce((sum, value) => sum + value, 0) / ratings.length;
    const left = ratings.reduce((sum, value, index) => sum + (value - applyLogistic(curve, scores[index]!)) ** 2, 0);
    t.ok(left <= ratings.reduce((sum, value) => sum + (value - mean) ** 2, 0) + 1e-9);
    const sorted = scores.toSorted((a, b) => a - b).map((score) => applyLogistic(curve, score));
    const direction = Math.sign(sorted.at(-1)! - sorted[0]!);
    t.ok(sorted.every((value, index) => index === 0 || direction * (value - sorted[index - 1]!) >= -1e-12));
  }
});

t.test('bootstrap: the same seed gives the same interval, and coverage is close to nominal', async (t) => {
  const random = createRandom(21);
  let held = 0;
  for (let round = 0; round < 200; round += 1) {
    const rows = Array.from({ length: 40 }, () => [bell(random)]);
    const interval = bootstrapInterval(rows, (drawn) => drawn.reduce((sum, value) => sum + value, 0) / drawn.length, {
      seed: round,
      rounds: 200,
      level: 0.9,
    });
    if (interval && interval[0] <= 0 && interval[1] >= 0) held += 1;
  }
  t.ok(held >= 165 && held <= 195, `${held} of 200 at 90 %`);
  const rows = [
    [1, 2],
    [3, 5],
    [4, 4],
    [8, 1],
  ];
  const sum = (drawn: readonly number[]) => drawn.reduce((total, value) => total + value, 0);
  t.strictSame(bootstrapInterval(rows, sum, { seed: 4 }), bootstrapInterval(rows, sum, { seed: 4 }));
  t.notSame(
    bootstrapInterval(rows, sum, { seed: 4, rounds: 50 }),
    bootstrapInterval(rows, sum, { seed: 5, rounds: 50 }),
  );
  t.equal(
    bootstrapInterval([[1]], () => NaN),
    null,
  );
  t.equal(quantile([0, 10, 20], 0.25), 5);
});

t.test('rows of a group are drawn together: copies of an image do not narrow the interval', async (t) => {
  const random = createRandom(2);
  const images = Array.from({ length: 15 }, () => {
    const x = random();
    return { x, y: x + 0.5 * bell(random) };
  });
  const figure = (drawn: readonly { x: number; y: number }[]) =>
    plcc(
      drawn.map(({ x }) => x),
      drawn.map(({ y }) => y),
    );
  const once = bootstrapInterval(
    images.map((image) => [image]),
    figure,
    { rounds: 400 },
  );
  const copied = bootstrapInterval(
    images.map((image) => Array.from({ length: 10 }, () => image)),
    figure,
    { rounds: 400 },
  );
  t.ok(Math.abs((once?.[0] ?? 0) - (copied?.[0] ?? 1)) < 1e-9);
});

t.test('all agreement figures', async (t) => {
  const random = createRandom(9);
  const rows = Array.from({ length: 120 }, (_, index) => {
    const score = 1 + 4 * random();
    return { score, mos: 100 / (1 + Math.exp(-2 * (score - 3))) + bell(random), group: `g${index % 12}` };
  });
  const { count, srcc, krcc, plcc: fitted, plcc_raw: raw, rmse, intervals } = measureAgreement(rows, { rounds: 100 });
  t.equal(count, 120);
  t.ok(srcc > 0.98 && krcc > 0.9 && fitted > raw && fitted > 0.99 && rmse < 2);
  t.ok(intervals.srcc && intervals.srcc[0] < srcc && intervals.srcc[1] >= srcc - 0.01);
  t.ok(Number.isNaN(measureAgreement(rows.slice(0, 5), { rounds: 10 }).plcc), 'too few for a curve');
});

t.test('random numbers are uniform, shuffles keep every item', async (t) => {
  const random = createRandom(1);
  const counts = new Array<number>(10).fill(0);
  for (let draw = 0; draw < 10_000; draw += 1) counts[Math.floor(random() * 10)]! += 1;
  t.ok(
    counts.every((count) => count > 850 && count < 1150),
    counts.join(),
  );
  const items = Array.from({ length: 50 }, (_, index) => index);
  const shuffled = shuffle(items, createRandom(3));
  t.strictSame(
    shuffled.toSorted((a, b) => a - b),
    items,
  );
  t.notSame(shuffled, items);
  t.strictSame(shuffled, shuffle(items, createRandom(3)));
});
