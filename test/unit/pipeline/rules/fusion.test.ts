// The fused score: the formula, its limits, and the mean over distinct lead tools.
import t from 'tap';
import { parse } from '../../../../schemas/validation/model.ts';
import { ExecutorOutput } from '../../../../schemas/pipeline/executor.ts';
import { LEVELS } from '../../../../schemas/vocabulary.ts';
import { fuse, scoreToLevel, weighLeadTools } from '../../../../src/pipeline/rules/fusion.ts';

const probabilities = (values: number[]) =>
  Object.fromEntries(LEVELS.map((level, index) => [level, values[index] ?? 0])) as Record<
    (typeof LEVELS)[number],
    number
  >;

const unsure = (mean: number) => ({ mean, spread: null });

t.test('q = Σ α p c / Σ α p with α ∝ exp(−η(q̄ − c)²)', async (t) => {
  const p = [0.05, 0.1, 0.2, 0.4, 0.25];
  const alpha = [1, 2, 3, 4, 5].map((level) => Math.exp(-((3.4 - level) ** 2)));
  const joint = alpha.map((weight, index) => weight * (p[index] ?? 0));
  const expected =
    joint.reduce((sum, share, index) => sum + share * (index + 1), 0) / joint.reduce((sum, share) => sum + share, 0);
  const score = fuse(unsure(3.4), { probabilities: probabilities(p), method: 'logprobs' }, 1);
  t.ok(Math.abs((score?.value ?? 0) - expected) < 1e-6);
  t.equal(score?.method, 'logprobs');
  t.equal(score?.tool_mean, 3.4);
});

t.test('without tools α is uniform, without probabilities p is, with neither there is no score', async (t) => {
  t.equal(fuse(null, null, 1), null);
  const reasoner = fuse(null, { probabilities: probabilities([0, 0, 0, 1, 0]), method: 'declared' }, 1);
  t.match(reasoner, {
    value: 4,
    level: 'Good',
    method: 'reasoner_only',
    tool_mean: null,
    weights: { Bad: 0.2, Excellent: 0.2 },
  });
  const tools = fuse(unsure(3), null, 1);
  t.match(tools, { value: 3, level: 'Fair', method: 'tools_only', probabilities: { Bad: 0.2, Excellent: 0.2 } });
});

t.test('the score grows with the tools and with the probabilities, and stays within 1 to 5', async (t) => {
  let last = 0;
  for (let mean = 1; mean <= 5; mean += 0.1) {
    const value = fuse(unsure(mean), null, 1)?.value ?? 0;
    t.ok(value > last && value >= 1 && value <= 5);
    last = value;
  }
  const low = fuse(unsure(3), { probabilities: probabilities([1, 1, 1, 0, 0]), method: 'declared' }, 1)?.value ?? 5;
  const high = fuse(unsure(3), { probabilities: probabilities([0, 0, 1, 1, 1]), method: 'declared' }, 1)?.value ?? 0;
  t.ok(low < 3 && high > 3);
});

t.test('tools and reasoner that exclude each other entirely give no made-up number', async (t) => {
  t.equal(fuse(unsure(1), { probabilities: probabilities([0, 0, 0, 0, 1]), method: 'logprobs' }, 100), null);
});

t.test('levels: round half up', async (t) => {
  t.strictSame([1, 1.49, 1.5, 2.5, 3.49, 3.5, 4.49, 4.5, 5].map(scoreToLevel), [
    'Bad',
    'Bad',
    'Poor',
    'Fair',
    'Fair',
    'Good',
    'Good',
    'Excellent',
    'Excellent',
  ]);
});

t.test('each lead tool counts once', async (t) => {
  const evidence = parse(ExecutorOutput, {
    quality_scores: {
      Global: { Blurs: ['NIQE', 2], Noise: ['NIQE', 2], Contrast: ['BRISQUE', 4] },
      car: { Blurs: ['NIQE', 3] },
    },
  });
  const rows = new Map([
    ['NIQE', { spread: [0.4, 0.6, 0.8, 0.6, 0.4] }],
    ['BRISQUE', { spread: [1, 1, 1, 1, 1] }],
  ]);
  const verdict = weighLeadTools(evidence, (name) => rows.get(name));
  const niqe = (2 + 2 + 3) / 3;
  t.equal(verdict?.mean, (niqe + 4) / 2);
  const between = ((niqe - 4) / 2) ** 2;
  t.ok(Math.abs((verdict?.spread ?? 0) - Math.sqrt(((0.6 + 0.2 / 3) ** 2 + 1) / 2 + between)) < 1e-9);
  t.equal(weighLeadTools(evidence, (name) => (name === 'NIQE' ? { spread: null } : rows.get(name)))?.spread, null);
  t.equal(
    weighLeadTools(parse(ExecutorOutput, {}), () => undefined),
    null,
  );
});

t.test(
  'without own probabilities p is the distribution of ratings around the tools, and the interval holds the score',
  async (t) => {
    let last = 0;
    for (const spread of [0.3, 0.7, 1.2]) {
      for (let mean = 1; mean <= 5; mean += 0.1) {
        const score = fuse({ mean, spread }, null, 1);
        const [low = 0, high = 0] = score?.interval ?? [];
        t.equal(score?.method, 'distribution');
        t.ok(low >= 1 && high <= 5 && low <= (score?.value ?? 0) && (score?.value ?? 0) <= high);
        t.ok(Math.abs(Object.values(score?.probabilities ?? {}).reduce((sum, share) => sum + share, 0) - 1) < 1e-9);
        t.ok((score?.value ?? 0) > last, 'grows with the tools');
        last = score?.value ?? 0;
      }
      last = 0;
    }
    const narrow = fuse({ mean: 3, spread: 0.3 }, null, 1);
    const wide = fuse({ mean: 3, spread: 0.9 }, null, 1);
    t.ok((narrow?.probabilities.Fair ?? 0) > (wide?.probabilities.Fair ?? 1));
    t.ok((narrow?.interval?.[0] ?? 0) > (wide?.interval?.[0] ?? 5));
  },
);
