// Multiple choice and yes/no answers: the right letter or word for the evidence.
import t from 'tap';
import type { Finding, QualityScore } from '../../../../../schemas/responses/assessment.ts';
import type { ExecutorOutput } from '../../../../../schemas/pipeline/executor.ts';
import { SEVERITIES, type DistortionCategory, type Severity } from '../../../../../schemas/vocabulary.ts';
import { fuse, scoreToLevel } from '../../../../../src/pipeline/rules/fusion.ts';
import {
  ask as askReasoner,
  buildEvidence,
  buildFinding,
  type Severities,
} from '../../../../support/reasoners/embedded-reasoner.ts';
import { generateEvidence } from '../../../../support/reasoners/random-evidence.ts';
import { createChance } from '../../../../support/random.ts';

interface Evidence {
  evidence: ExecutorOutput;
  findings: Finding[];
  score: QualityScore | null;
}

const ask = (query: string, { evidence, findings, score }: Evidence, choices: string[] = []) =>
  askReasoner(query, evidence, { findings, choices, fuse: () => score });

t.test('yes and no agree with the severity', async (t) => {
  const random = createChance(7);
  const questions: [string, DistortionCategory, 'flaw' | 'virtue'][] = [
    ['Is this image blurry?', 'Blurs', 'flaw'],
    ['Is it in focus?', 'Blurs', 'virtue'],
    ['Is it noisy?', 'Noise', 'flaw'],
    ['Is it noise-free?', 'Noise', 'virtue'],
    ['Is it sharp?', 'Sharpness', 'virtue'],
  ];
  for (let round = 0; round < 40; round += 1) {
    for (const [query, category, kind] of questions) {
      const evidence = generateEvidence(random, [category], false);
      const rank = SEVERITIES.indexOf(evidence.findings[0]?.severity ?? 'none');
      const expected = kind === 'flaw' ? ['No', 'Slightly', 'Yes', 'Yes', 'Yes'] : ['Yes', 'Mostly', 'No', 'No', 'No'];
      const { final_answer } = await ask(query, evidence);
      t.equal(final_answer.split(':')[0], expected[rank], `${query} ${evidence.findings[0]?.severity ?? ''}`);
    }
  }
});

const OPTIONS: Partial<Record<DistortionCategory, string>> = {
  Blurs: 'Blur',
  Noise: 'Noise',
  Compression: 'JPEG artifacts',
  Contrast: 'Contrast problems',
  'Color distortions': 'Colour errors',
};

t.test('the worst flaw is the strongest one, whatever the order of the options', async (t) => {
  const random = createChance(8);
  for (let round = 0; round < 150; round += 1) {
    const categories = random.some(Object.keys(OPTIONS) as DistortionCategory[], 2 + random.below(3));
    const evidence = generateEvidence(random, categories, false);
    const shuffled = categories.toSorted(() => random.next() - 0.5);
    const strongest = evidence.findings.reduce((a, b) => (b.strength > a.strength ? b : a));
    const choices = shuffled.map((category) => OPTIONS[category] ?? '');
    const { final_answer, quality_reasoning } = await ask('Which distortion is worst?', evidence, choices);
    const strengths = JSON.stringify(evidence.findings.map(({ distortion, strength }) => [distortion, strength]));
    if (strongest.strength >= 1) t.equal(shuffled[final_answer.charCodeAt(0) - 65], strongest.distortion, strengths);
    else t.match(quality_reasoning, /None of the options is clearly visible/);
  }
});

t.test('a score is found in its range, on the scale of the options', async (t) => {
  const random = createChance(9);
  for (let round = 0; round < 60; round += 1) {
    const evidence = generateEvidence(random, ['Noise'], true);
    if (!evidence.score) continue;
    const { value } = evidence.score;
    const five = await ask(
      'What is the quality score of this image? A. 1 to 2 B. 2 to 3 C. 3 to 4 D. 4 to 5',
      evidence,
    );
    t.equal(five.final_answer, 'ABCD'[Math.min(3, Math.ceil(value) - 2)], String(value));
    const hundred = await ask('What quality score out of 100 would you give?', evidence, [
      'below 25',
      '25-50',
      '50-75',
      'above 75',
    ]);
    t.equal(hundred.final_answer, 'ABCD'[Math.max(0, Math.ceil(value) - 2)], String(value));
  }
});

const only = (severities: Severities, variants: Record<string, Severity> = {}, value = 3): Evidence => {
  const fused = fuse({ mean: value, spread: null }, null, 1);
  return {
    score: fused && { ...fused, value, level: scoreToLevel(value) },
    findings: (Object.entries(severities) as [DistortionCategory, Severity][]).map(([distortion, severity]) =>
      buildFinding({ distortion, severity, strength: SEVERITIES.indexOf(severity), variants }),
    ),
    evidence: buildEvidence(severities, null),
  };
};

t.test('multiple choice as people write it', async (t) => {
  const cases: [string, Evidence, string][] = [
    ['How sharp is it? A. Very B. Fairly C. Not', only({ Sharpness: 'none' }), 'A'],
    ['How sharp is it? A. Very B. Fairly C. Not', only({ Sharpness: 'slight' }), 'B'],
    ['How sharp is it? A. Very B. Fairly C. Not', only({ Sharpness: 'severe' }), 'C'],
    ['How noisy is it? A. Not at all B. Slightly C. Very', only({ Noise: 'slight' }), 'B'],
    ['Which flaw is worst? A. Blur B. Noise C. None of the above', only({ Blurs: 'none', Noise: 'none' }), 'C'],
    [
      'Which flaws does it show? A. Blur B. Noise C. Both D. Neither',
      only({ Blurs: 'severe', Noise: 'moderate' }),
      'C',
    ],
    ['Which flaw is worst? A. Blur B. Noise C. Both', only({ Blurs: 'severe', Noise: 'moderate' }), 'A'],
    [
      'Which is true? A. Sharp but noisy B. Blurry but noise-free C. Blurry and noisy',
      only({ Sharpness: 'none', Blurs: 'none', Noise: 'severe' }),
      'A',
    ],
    [
      'Which is true? A. Sharp but noisy B. Blurry but noise-free C. Blurry and noisy',
      only({ Sharpness: 'severe', Blurs: 'severe', Noise: 'none' }),
      'B',
    ],
    [
      'Which is true? A. Sharp but noisy B. Blurry but noise-free C. Blurry and noisy',
      only({ Sharpness: 'severe', Blurs: 'severe', Noise: 'severe' }),
      'C',
    ],
    ['Which is true? A. There is no noise B. There is noise', only({ Noise: 'none' }), 'A'],
    ['Which is true? A. There is no noise B. There is noise', only({ Noise: 'severe' }), 'B'],
    ['Which distortion is least visible? A. Blur B. Noise', only({ Blurs: 'severe', Noise: 'slight' }), 'B'],
    [
      'How is the exposure? A. Too dark B. Just right C. Too bright',
      only({ 'Brightness change': 'none' }, { underexposure: 'none', overexposure: 'none' }),
      'B',
    ],
    [
      'How is the exposure? A. Too dark B. Just right C. Too bright',
      only({ 'Brightness change': 'severe' }, { underexposure: 'none', overexposure: 'severe' }),
      'C',
    ],
    [
      'How is the contrast? A. Low B. Normal C. High',
      only({ Contrast: 'moderate' }, { 'low contrast': 'moderate', 'excessive contrast': 'none' }),
      'A',
    ],
    [
      'How is the contrast? A. Low B. Normal C. High',
      only({ Contrast: 'none' }, { 'low contrast': 'none', 'excessive contrast': 'none' }),
      'B',
    ],
    ['Is it blurry? A. Yes B. Slightly C. No', only({ Blurs: 'slight' }), 'B'],
    ['The image is blurry. A. True B. False', only({ Blurs: 'severe' }), 'A'],
    ['How is the quality? A. Excellent B. Good', only({ Noise: 'none' }, {}, 1.2), 'B'],
    ['How would you rate the quality? A. 1 star B. 3 stars C. 5 stars', only({ Noise: 'none' }, {}, 4.8), 'C'],
  ];
  for (const [query, evidence, letter] of cases) {
    const { final_answer, quality_reasoning } = await ask(query, evidence);
    t.equal(
      final_answer,
      letter,
      `${query} ${JSON.stringify(evidence.findings.map(({ severity }) => severity))}: ${quality_reasoning}`,
    );
  }
  const { quality_reasoning } = await ask('How is the quality? A. Excellent B. Good', only({ Noise: 'none' }, {}, 1.2));
  t.match(quality_reasoning, /^The score is 1\.20 out of 5; no option fits well, and "Good" is closest\./);
});
