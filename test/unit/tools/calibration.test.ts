// Calibration curves: monotone, over the whole scale, clipped.
import t from 'tap';
import { calibrate } from '../../../src/tools/calibration.ts';
import { registry } from '../../support/run.ts';

t.test("every calibration is monotone over the tool's range and reaches excellent and bad", async (t) => {
  for (const row of registry.rows) {
    const [low = 0, high = 0] = row.range;
    const scores = Array.from(
      { length: 2_001 },
      (_, step) => calibrate(low + (step / 2_000) * (high - low), row.calibration).score,
    );
    const ordered = row.direction === 'higher' ? scores : scores.toReversed();
    t.ok(
      ordered.every((score, index) => index === 0 || score >= (ordered[index - 1] ?? 0) - 1e-9),
      `${row.name} is monotone`,
    );
    t.ok((ordered.at(-1) ?? 0) > 4.5, `${row.name} reaches excellent`);
    t.ok((ordered[0] ?? 5) < 1.5, `${row.name} reaches bad`);
    t.ok(scores.every((score) => score >= 1 && score <= 5));
  }
});

t.test('a score outside 1 to 5 is clipped and flagged', async (t) => {
  const line = { beta: [0, 0, 0, 1, 0] };
  t.strictSame(calibrate(3, line), { score: 3, clipped: false });
  t.strictSame(calibrate(7, line), { score: 5, clipped: true });
  t.strictSame(calibrate(-1, line), { score: 1, clipped: true });
});
