// Ranking, pairs and reasons of hand-made assessments.
import t from 'tap';
import type { Assessment, Finding } from '../../../schemas/responses/assessment.ts';
import { mergeMetadata } from '../../../src/comparisons/metadata.ts';
import { rankImages } from '../../../src/comparisons/ranking.ts';
import { makeAssessment } from '../../support/schemas/assessment.ts';
import { createRandom } from '../../support/images/images.ts';

const rule = { decided_at: 0.8, shared_error: 0, spread_without_interval: 0.7 };

function make(
  value: number | null,
  interval: [number, number] | null,
  findings: Partial<Finding>[] = [],
  sha256 = String(Math.random()),
): Assessment {
  const whole = makeAssessment();
  return {
    ...whole,
    image: { ...whole.image, sha256 },
    quality_score: value === null || !whole.quality_score ? null : { ...whole.quality_score, value, interval },
    diagnostics: {
      ...whole.diagnostics,
      tools: [],
      findings: findings.map((finding) => ({
        object_name: 'Global',
        distortion: 'Blurs',
        severity: 'none',
        strength: 0,
        confidence: 1,
        measurements: {},
        variants: {},
        place: null,
        ...finding,
      })),
    },
  };
}
const rank = (...assessments: Assessment[]) =>
  rankImages(
    assessments.map((assessment, index) => ({ number: index + 1, assessment })),
    rule,
  );

t.test('narrow intervals decide where wide ones do not', async (t) => {
  t.match(rank(make(3, [2.9, 3.1]), make(3.3, [3.2, 3.4])), {
    best: 2,
    pairs: [{ images: [2, 1], better: 2, too_close: false }],
  });
  t.match(rank(make(3, [2, 4]), make(3.3, [2.3, 4.3])), {
    best: null,
    pairs: [{ images: [2, 1], better: null, too_close: true }],
    ranking: [
      { number: 2, too_close_to: [1] },
      { number: 1, too_close_to: [2] },
    ],
  });
  t.match(rank(make(3, null), make(3.3, null)), { best: null, ranking: [{ spread: 0.7 }, { spread: 0.7 }] });
});

t.test('the first may be too close to the second and still be better than the third', async (t) => {
  const { verdict, pairs } = rank(make(2, [1.8, 2.2]), make(4, [3.8, 4.2]), make(3.95, [3.75, 4.15]));
  t.match(verdict, /^It is too close to call between images 2 and 3\. By score: image 2 .* image 3 .* image 1 /);
  t.strictSame(
    pairs.map(({ better }) => better),
    [null, 2, 3],
  );
});

t.test(
  'reasons name what is worse, with both severities, the explanation and the values, and what is better',
  async (t) => {
    const good = make(
      4,
      [3.9, 4.1],
      [
        { distortion: 'Noise', severity: 'moderate', measurements: { noise_sigma: 9 } },
        { distortion: 'Blurs', severity: 'slight', measurements: { edge_width_px: 2.1, other: null } },
      ],
    );
    const bad = make(
      2,
      [1.9, 2.1],
      [{ distortion: 'Blurs', severity: 'extreme', measurements: { edge_width_px: 9.25, other: 1 } }],
    );
    const explained = {
      ...bad,
      executor_evidence: {
        ...bad.executor_evidence!,
        distortion_analysis: {
          Global: [{ type: 'Blurs' as const, severity: 'extreme' as const, explanation: 'Edges are 9.3 px wide.' }],
        },
      },
    };
    const [pair] = rank(good, explained).pairs;
    t.strictSame(pair?.reasons, [
      'Blurs: extreme in image 2, slight in image 1. Edges are 9.3 px wide. Compared with image 1: edge_width_px 9.25 against 2.1.',
      'On the other hand, noise: moderate in image 1, not noticed in image 2.',
    ]);
  },
);

t.test('only scores of the same tool are compared', async (t) => {
  const tool = (name: string, score: number) => ({
    ...makeAssessment().diagnostics.tools[0]!,
    tool_name: name,
    object_name: 'Global',
    raw_score: score / 10,
    normalized_score: score,
  });
  const withTool = (assessment: Assessment, name: string, score: number): Assessment => ({
    ...assessment,
    diagnostics: { ...assessment.diagnostics, tools: [tool(name, score)] },
  });
  const reasons = (left: string, right: string) =>
    rank(withTool(make(4, null), left, 4), withTool(make(2, null), right, 2)).pairs[0]?.reasons;
  t.strictSame(reasons('MDSI', 'MDSI'), ['MDSI rates image 1 as 4.0 (0.4) and image 2 as 2.0 (0.2).']);
  t.strictSame(reasons('NIQE', 'BRISQUE'), [
    'The scores rest on different tools: NIQE for image 1, BRISQUE for image 2.',
  ]);
});

t.test('an image without a score is last, and no image is better or worse than it', async (t) => {
  t.match(rank(make(null, null), make(3, null)), {
    best: null,
    verdict: /^Only image 2 has a score/,
    ranking: [
      { rank: 1, number: 2 },
      { rank: null, number: 1, spread: null },
    ],
    pairs: [{ better: null, too_close: false, difference: null }],
  });
});

t.test(
  'for random scores: the ranking is sorted, every pair occurs once, the best beats all, text and fields agree',
  async (t) => {
    const random = createRandom(3);
    for (let round = 0; round < 300; round += 1) {
      const images = Array.from({ length: 2 + Math.floor(random() * 7) }, () => {
        const value = 1 + 4 * random();
        const half = random();
        return make(value, random() < 0.2 ? null : [Math.max(1, value - half), Math.min(5, value + half)]);
      });
      const { best, ranking, pairs, verdict } = rank(...images);
      const values = ranking.map(({ quality_score: score }) => score?.value ?? 0);
      t.ok(values.every((value, index) => index === 0 || value <= values[index - 1]!));
      t.equal(
        new Set(pairs.map(({ images: both }) => both.toSorted().join())).size,
        (images.length * (images.length - 1)) / 2,
      );
      t.ok(
        pairs.every(
          ({ better, too_close: close, probability, verdict: words }) =>
            (better === null) === close &&
            close === /too close to call/.test(words) &&
            close === probability! < rule.decided_at,
        ),
      );
      t.equal(
        best !== null,
        pairs.filter(({ images: [first] }) => first === ranking[0]?.number).every(({ better }) => better !== null),
      );
      t.equal(best !== null, verdict.startsWith(`Image ${best ?? ''} is the best.`));
      t.ok(
        ranking.every(({ number, too_close_to: close }) =>
          close.every((other) => ranking.find((entry) => entry.number === other)!.too_close_to.includes(number)),
        ),
      );
    }
  },
);

t.test('usage is summed, degradations are listed by image', async (t) => {
  const one = makeAssessment();
  const used = {
    ...one.metadata.vlm,
    calls: 2,
    cost_usd: 0.25,
    roles: { ...one.metadata.vlm.roles, planner: { calls: 2, input_tokens: 10, output_tokens: 1, cost_usd: 0.25 } },
  };
  const degraded = {
    ...one,
    metadata: {
      ...one.metadata,
      vlm: used,
      degraded: true,
      degraded_reason: 'NIQE failed',
      cache: { hits: 1, misses: 2 },
    },
  };
  t.match(mergeMetadata([one, degraded, degraded], 'r', 5), {
    request_id: 'r',
    degraded: true,
    degraded_reason: 'image 2: NIQE failed; image 3: NIQE failed',
    vlm: { calls: 4, cost_usd: 0.5, roles: { planner: { calls: 4, input_tokens: 20 } } },
    cache: { hits: 2, misses: 5 },
    timings_ms: { total: 5 },
  });
  t.throws(() => mergeMetadata([], 'r', 5), TypeError);
});
