// Words against numbers: generated evidence, every form of question, and not one word that the evidence does not bear out.
import t from 'tap';
import { PLACES, type Finding, type QualityScore } from '../../../../../schemas/responses/assessment.ts';
import type { ExecutorOutput } from '../../../../../schemas/pipeline/executor.ts';
import {
  DISTORTION_CATEGORIES,
  GLOBAL,
  LEVELS,
  SEVERITIES,
  type DistortionCategory,
  type Severity,
} from '../../../../../schemas/vocabulary.ts';
import { projectRoot } from '../../../../../src/config/config.ts';
import { fuse, levelOf } from '../../../../../src/pipeline/rules/fusion.ts';
import { judge, rankFindings, rankOf } from '../../../../../src/reasoners/embedded/findings/ranking.ts';
import { asSentence, nounOf } from '../../../../../src/reasoners/embedded/answers/text/names.ts';
import { createEmbeddedReasoner } from '../../../../../src/reasoners/embedded/reasoner.ts';
import { loadSeverityRules } from '../../../../../src/reasoners/embedded/findings/severity-rules.ts';
import type { SummaryRequest } from '../../../../../src/reasoners/reasoner.ts';
import { WHOLE_PICTURE } from '../../../../../src/tools/evidence/source.ts';
import { createChance, type Random } from '../../../../support/random.ts';
import { registry } from '../../../../support/run.ts';
import { GLOBAL_PLAN } from '../../../../support/scripted-reasoner.ts';
import { VOCABULARY } from '../../../../support/lexicon.ts';

const rules = loadSeverityRules(projectRoot());
const reasoner = createEmbeddedReasoner({ lexicon: VOCABULARY.lexicon, rules, registry });
const signal = new AbortController().signal;

type StrongFinding = Finding & { strength: number };
interface Evidence {
  findings: StrongFinding[];
  gathered: ExecutorOutput;
  score: QualityScore | null;
}

/** Severities, sides, places, scores and intervals at random, of the distortions given. */
function generate(random: Random, categories: readonly DistortionCategory[], detected: boolean): Evidence {
  const findings = categories.map((distortion): StrongFinding => {
    const strength = random.between(0, 5);
    const severity = SEVERITIES[Math.min(4, Math.floor(strength))] as Severity;
    const own = [...new Set(rules.categories.get(distortion)?.indicators.flatMap(({ shows }) => shows ?? []))];
    const lead = own.length > 0 && random.chance(0.6) ? random.pick(own) : null;
    return {
      object_name: GLOBAL,
      distortion,
      severity,
      strength,
      confidence: 0.8,
      measurements: { edge_width_px: 3.14, missing: null },
      sides: Object.fromEntries(own.map((side) => [side, side === lead ? severity : 'none'])),
      place: random.chance(0.5)
        ? { where: random.pick(PLACES), grid: Array.from({ length: 9 }, () => random.next()), map: 'edge_width_px' }
        : null,
    };
  });
  const value = random.chance(0.9) ? random.between(1, 5) : null;
  const fused = fuse(value === null ? null : { mean: value, spread: null }, null, 1);
  const spread = random.between(0, 1);
  const score = fused && {
    ...fused,
    interval: random.chance(0.6) ? [Math.max(1, fused.value - spread), Math.min(5, fused.value + spread)] : null,
  };
  const gathered: ExecutorOutput = {
    distortion_set: detected ? { [GLOBAL]: [...categories] } : null,
    selected_tools: null,
    distortion_analysis: {
      [GLOBAL]: findings.map(({ distortion: type, severity, measurements }) => ({
        type,
        severity,
        explanation: `Edges are ${measurements['edge_width_px'] ?? ''} px wide; sharp photos have 1.5 to 2.6.`,
      })),
    },
    quality_scores: value === null ? null : { [GLOBAL]: { [categories[0] ?? 'Noise']: ['NIQE', value] } },
    tool_logs:
      value === null
        ? []
        : [
            {
              tool_name: 'NIQE',
              object_name: GLOBAL,
              distortion: 'Noise',
              raw_score: 5.4321,
              normalized_score: value,
              execution_time: 0,
              fallback: false,
              error: null,
              timestamp: '2026-01-01T00:00:00.000Z',
            },
          ],
  };
  return { findings, gathered, score };
}

async function ask(query: string, { findings, gathered, score }: Evidence, changes: Partial<SummaryRequest> = {}) {
  const { output } = await reasoner.summarize(
    {
      query,
      choices: [],
      plan: GLOBAL_PLAN,
      evidence: gathered,
      regions: [WHOLE_PICTURE],
      findings,
      gaps: [],
      ungrounded: [],
      fuse: () => score,
      ...changes,
    },
    signal,
  );
  return output;
}

const OPEN = [
  'How is the overall quality of this image?',
  'Rate the quality of this photo.',
  "What's wrong with this image?",
  'Why does this photo look bad?',
  'Is it good enough for printing?',
  'Is this a bad photo?',
  'How much is it degraded?',
  'Describe the flaws.',
  'Where are the distortions?',
  'How can I improve this image?',
  'Which distortions does it have?',
  'blargh fnord?',
  'Is this image blurry?',
  'Is it noisy?',
  'Is it sharp?',
  'Is it too dark?',
  'Is it overexposed?',
  'Is it blurry or noisy?',
  'How strong is the noise?',
  'Where is the blur?',
  'Does it lack contrast?',
];
const CHOICES: string[][] = [
  ['Excellent', 'Good', 'Fair', 'Poor', 'Bad'],
  ['Blur', 'Noise', 'Compression artifacts', 'Overexposure'],
  ['Yes', 'No'],
  ['1-2', '2-3', '3-4', '4-5'],
  ['Blur', 'Noise', 'None of the above'],
  ['Sharp', 'Slightly blurry', 'Very blurry'],
  ['Too dark', 'Too bright', 'Just right'],
  ['Sharp but noisy', 'Blurry but clean', 'Blurry and noisy'],
  ['Very', 'Fairly', 'Not'],
];

t.test('whatever a model wrote ends before the next sentence begins', async (t) => {
  t.strictSame(['Grain all over', ' Grain. ', 'Grain!', 'It says "blur."'].map(asSentence), [
    'Grain all over.',
    'Grain.',
    'Grain!',
    'It says "blur."',
  ]);
});

t.test('no word without evidence, no sentence out of shape', async (t) => {
  const random = createChance(6);
  const faults: string[] = [];
  for (let round = 0; round < 30; round += 1) {
    for (const query of OPEN) {
      const categories = random.some(DISTORTION_CATEGORIES, 1 + random.below(4));
      const evidence = generate(random, categories, random.chance(0.5));
      const output = await ask(query, evidence);
      for (const fault of faultsOf(output, evidence))
        faults.push(`${query} → ${output.final_answer} | ${output.quality_reasoning}: ${fault}`);
    }
    for (const choices of CHOICES) {
      const evidence = generate(random, DISTORTION_CATEGORIES, false);
      const output = await ask('Which of these is most fitting for the quality of this image?', evidence, { choices });
      const letters = choices.map((_, index) => String.fromCharCode(65 + index));
      if (output.final_answer !== 'Unable to determine' && !letters.includes(output.final_answer))
        faults.push(`${choices.join()} → ${output.final_answer}`);
      for (const fault of faultsOf(output, evidence))
        faults.push(`${choices.join()} → ${output.final_answer} | ${output.quality_reasoning}: ${fault}`);
    }
  }
  t.strictSame(faults.slice(0, 5), [], `${faults.length} faults`);
});

function faultsOf(
  { final_answer, quality_reasoning, used_evidence }: Awaited<ReturnType<typeof ask>>,
  { findings, gathered, score }: Evidence,
): string[] {
  const text = `${final_answer}. ${quality_reasoning}`;
  const judged = judge({ evidence: gathered, findings });
  const faults: string[] = [];
  if (/undefined|NaN|null|Infinity|\[object|\{|\}| {2}| [.,;:]|\.\.|;\.|,\./.test(text)) faults.push('out of shape');
  for (const sentence of quality_reasoning.split(/(?<=[.!?])\s+/))
    if (!/^["\p{Lu}\d]/u.test(sentence) || !/[.!?]$/.test(sentence)) faults.push(`not a sentence: ${sentence}`);
  if (!/^["\p{Lu}\d]/u.test(final_answer)) faults.push('the answer begins small');
  const told = /The quality is (\w+), (\d\.\d\d) of 5(?: \(80 % interval (\d\.\d) to (\d\.\d))?/.exec(
    quality_reasoning,
  );
  if ((told === null) !== (score === null)) faults.push('score told without one, or kept back');
  if (told && score) {
    if (told[1] !== score.level.toLowerCase() || levelOf(Number(told[2])) !== score.level) faults.push('another level');
    if ((told[3] !== undefined) !== (score.interval !== null)) faults.push('the interval is not told');
    if (told[3] !== undefined && !(Number(told[3]) <= Number(told[2]) && Number(told[2]) <= Number(told[4])))
      faults.push('an interval without its score');
  }
  for (const [, level] of text.matchAll(/(?:overall|The) quality is (\w+)/g))
    if (level !== score?.level.toLowerCase()) faults.push(`level ${level ?? ''}`);
  if (LEVELS.some((level) => final_answer === level) && final_answer !== score?.level)
    faults.push('answers with another level');
  // Every distortion that is named with a severity has that severity: as a whole, or on the side that is named.
  const severities = new Map(
    judged.flatMap((item) => [
      [nounOf(item, rules), item.severity] as const,
      [nounOf({ ...item, side: null }, rules), item.severity] as const,
      ...Object.entries(item.sides).map(([side, severity]) => [nounOf({ ...item, side }, rules), severity] as const),
    ]),
  );
  for (const [noun, severity] of severities) {
    for (const [, word] of text.matchAll(
      new RegExp(`\\b(no visibl[ey]|slight|moderate|severe|extreme)(?:ly)? ${noun}\\b`, 'gi'),
    )) {
      const said = /^no/i.test(word ?? '') ? 'none' : word?.toLowerCase();
      if (said !== severity) faults.push(`${said ?? ''} ${noun} where it is ${severity}`);
    }
  }
  const places = new Set(judged.flatMap(({ place, rank }) => (place && rank > 0 ? [place.where] : [])));
  for (const [, where] of text.matchAll(
    /(?:strongest|most visible) (?:in the|at the|on the|towards the) (upper left|upper right|lower left|lower right|top|bottom|left|right|centre|edges)/g,
  )) {
    if (!places.has(where as 'top')) faults.push(`a place that no map shows: ${where ?? ''}`);
  }
  const severe = judged.some(({ rank }) => rank >= 3);
  if (severe && /No distortion stands out|Nothing of what was asked/.test(text) && gathered.distortion_set !== null)
    faults.push('praises what is severe');
  const used = used_evidence as {
    distortion_analysis: unknown[];
    quality_score: number | null;
    measurements: unknown[];
  };
  if (
    used.distortion_analysis.length !== judged.length ||
    used.quality_score !== (score?.value ?? null) ||
    used.measurements.length !== judged.length
  )
    faults.push('used_evidence is not what was used');
  return faults;
}

t.test('yes and no never praise what is severe nor blame what is absent', async (t) => {
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
      const evidence = generate(random, [category], false);
      const rank = rankOf(evidence.findings[0]?.severity ?? 'none');
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

t.test('the worst flaw is the one that rankFindings puts first, whatever the order of the options', async (t) => {
  const random = createChance(8);
  for (let round = 0; round < 150; round += 1) {
    const categories = random.some(Object.keys(OPTIONS) as DistortionCategory[], 2 + random.below(3));
    const evidence = generate(random, categories, false);
    const shuffled = categories.toSorted(() => random.next() - 0.5);
    const worst = rankFindings(evidence.findings)[0];
    const { final_answer, quality_reasoning } = await ask('Which distortion is worst?', evidence, {
      choices: shuffled.map((category) => OPTIONS[category] ?? ''),
    });
    const chosen = shuffled[final_answer.charCodeAt(0) - 65];
    if (worst && worst.severity !== 'none')
      t.equal(
        chosen,
        worst.distortion,
        JSON.stringify(evidence.findings.map(({ distortion, strength }) => [distortion, strength])),
      );
    else t.match(quality_reasoning, /None of the options is clearly visible/);
  }
});

t.test('a number is found in its range, on the scale of the options', async (t) => {
  const random = createChance(9);
  for (let round = 0; round < 60; round += 1) {
    const evidence = generate(random, ['Noise'], true);
    if (!evidence.score) continue;
    const { value } = evidence.score;
    const five = await ask(
      'What is the quality score of this image? A. 1 to 2 B. 2 to 3 C. 3 to 4 D. 4 to 5',
      evidence,
    );
    t.equal(five.final_answer, 'ABCD'[Math.min(3, Math.ceil(value) - 2)], String(value));
    const hundred = await ask('What quality score out of 100 would you give?', evidence, {
      choices: ['below 25', '25-50', '50-75', 'above 75'],
    });
    t.equal(hundred.final_answer, 'ABCD'[Math.max(0, Math.ceil(value) - 2)], String(value));
  }
});

const only = (
  severities: Partial<Record<DistortionCategory, Severity>>,
  sides: Record<string, Severity> = {},
  score: number | null = 3,
): Evidence => {
  const fused = fuse(score === null ? null : { mean: score, spread: null }, null, 1);
  const entries = Object.entries(severities) as [DistortionCategory, Severity][];
  return {
    score: fused && score !== null ? { ...fused, value: score, level: levelOf(score) } : null,
    findings: entries.map(([distortion, severity]) => ({
      object_name: GLOBAL,
      distortion,
      severity,
      strength: rankOf(severity),
      confidence: 0.9,
      measurements: {},
      sides,
      place: null,
    })),
    gathered: {
      distortion_set: null,
      selected_tools: null,
      tool_logs: [],
      quality_scores: null,
      distortion_analysis: {
        [GLOBAL]: entries.map(([type, severity]) => ({ type, severity, explanation: 'It was measured.' })),
      },
    },
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
  t.match(quality_reasoning, /no option fits that well/, 'it is said when no option fits');
});
