// The wording of answers: exact texts for typical cases, and properties that hold for random evidence.
import t from 'tap';
import type { Finding, QualityScore } from '../../../../../schemas/responses/assessment.ts';
import {
  DISTORTION_CATEGORIES,
  GLOBAL,
  LEVELS,
  type DistortionCategory,
  type Severity,
} from '../../../../../schemas/vocabulary.ts';
import { fuse } from '../../../../../src/pipeline/rules/fusion.ts';
import { asSentence } from '../../../../../src/reasoners/embedded/answers/text/names.ts';
import { ask, buildEvidence, buildFinding, type AskOptions } from '../../../../support/reasoners/embedded-reasoner.ts';
import { buildToolLog, generateEvidence, type RandomEvidence } from '../../../../support/reasoners/random-evidence.ts';
import { createChance } from '../../../../support/random.ts';

/** One analysed distortion with its finding. */
function buildCase(finding: Pick<Finding, 'distortion' | 'severity'> & Partial<Finding>, explanation: string) {
  const evidence = {
    ...buildEvidence({}, null),
    distortion_analysis: { [GLOBAL]: [{ type: finding.distortion, severity: finding.severity, explanation }] },
  };
  return { evidence, findings: [buildFinding(finding)] };
}

const scoreOf = (value: number, level: QualityScore['level'], interval: [number, number] | null): AskOptions => {
  const fused = fuse({ mean: value, spread: null }, null, 1);
  return { fuse: () => fused && { ...fused, value, level, interval } };
};

t.test('a rating starts with the level and the score', async (t) => {
  const { evidence, findings } = buildCase(
    { distortion: 'Blurs', severity: 'moderate' },
    'Edges are 5.6 pixels wide; in sharp photos 1.5 to 2.6.',
  );
  const measured = {
    ...evidence,
    quality_scores: { [GLOBAL]: { Blurs: ['NIQE', 2.301] as [string, number] } },
    tool_logs: [buildToolLog({ raw_score: 5.43219, normalized_score: 2.301 })],
  };
  const options = { ...scoreOf(2.276, 'Poor', [1.518, 3.0449]), findings };
  t.match(await ask('Rate this photo.', measured, options), {
    final_answer: 'Poor',
    quality_reasoning:
      'The quality is poor: 2.28 out of 5. The score comes from NIQE (5.432, which corresponds to 2.30); its 80 % interval is 1.52 to 3.04. ' +
      'Moderate blur. Edges are 5.6 pixels wide; in sharp photos 1.5 to 2.6.',
  });
});

t.test('the level word follows the unrounded score', async (t) => {
  const evidence = buildEvidence({}, null);
  const text = async (value: number, level: QualityScore['level']) =>
    (await ask('Rate this photo.', evidence, scoreOf(value, level, null))).quality_reasoning;
  t.equal(await text(2.499, 'Poor'), 'The quality is poor: 2.50 out of 5.');
  t.equal(await text(2.675, 'Fair'), 'The quality is fair: 2.68 out of 5.');
  t.equal(await text(3, 'Fair'), 'The quality is fair: 3.00 out of 5.');
});

t.test('an explanation names the flaw, its place, its effect, its measurement and a remedy', async (t) => {
  const { evidence, findings } = buildCase(
    {
      distortion: 'Noise',
      severity: 'severe',
      place: { where: 'left', grid: [1, 0, 0, 1, 0, 0, 1, 0, 0], map: 'noise' },
    },
    'The noise in smooth areas is 14.9 of 255 brightness levels; clean photos stay below 1.5.',
  );
  const expected =
    'Severe noise, strongest on the left: grain covers fine detail. The noise in smooth areas is 14.9 of 255 brightness levels; ' +
    'clean photos stay below 1.5. More light or a lower ISO would avoid it; denoising would reduce it.';
  for (const [query, final_answer] of [
    ["What's wrong with this image?", 'Severe noise'],
    ['Is it noisy?', 'Yes: severe noise'],
    ['Where is the noise?', 'Severe noise, strongest on the left'],
    ['How can I improve this image?', 'More light or a lower ISO would avoid it; denoising would reduce it'],
  ] as const)
    t.match(await ask(query, evidence, { findings }), { final_answer, quality_reasoning: expected }, query);
  t.match(await ask('Where is the noise?', evidence, { findings: [] }), {
    final_answer: 'Severe noise',
    quality_reasoning: /^No local map shows where the noise is\. Severe noise: grain covers fine detail\./,
  });
});

t.test('an absent flaw is named, and a low score beside it is pointed out', async (t) => {
  const named = buildCase({ distortion: 'Blurs', severity: 'none' }, 'Edges are 2.0 pixels wide');
  t.match(await ask('Is it blurry?', named.evidence, { ...scoreOf(1.62, 'Poor', null), findings: named.findings }), {
    final_answer: 'No: no visible blur',
    quality_reasoning:
      'No visible blur. Edges are 2.0 pixels wide. The quality is poor: 1.62 out of 5. Something that the question did not ask about lowers the score.',
  });
  const detected = { ...named.evidence, distortion_set: { [GLOBAL]: ['Blurs' as const] } };
  const options = { ...scoreOf(1.62, 'Poor', null), findings: named.findings };
  t.match(await ask('Describe the flaws.', detected, options), {
    final_answer: 'No flaw stands out, but the overall quality is poor',
    quality_reasoning:
      'No flaw stands out. Edges are 2.0 pixels wide. The quality is poor: 1.62 out of 5. None of the measured distortions explains the low score.',
  });
});

t.test('a good score beside a severe flaw is not praise', async (t) => {
  const { evidence, findings } = buildCase(
    {
      distortion: 'Contrast',
      severity: 'severe',
      variants: { 'low contrast': 'severe', 'excessive contrast': 'none' },
    },
    'The brightness range covers 70 of 255 levels; most photos cover 170 to 246.',
  );
  const { quality_reasoning } = await ask('Rate it.', evidence, { ...scoreOf(4.11, 'Good', null), findings });
  t.equal(
    quality_reasoning,
    'The quality is good: 4.11 out of 5. Severe lack of contrast. The brightness range covers 70 of 255 levels; most photos cover 170 to 246. ' +
      'The score does not reflect the severe lack of contrast; rely on the measurement instead.',
  );
});

t.test('a failed tool and its replacement are named', async (t) => {
  const evidence = {
    ...buildEvidence({}, null),
    tool_logs: [
      buildToolLog({ tool_name: 'LPIPS', raw_score: null, normalized_score: null, error: 'The tool timed out' }),
      buildToolLog({ fallback: true }),
    ],
  };
  t.equal(
    (await ask('Rate it.', evidence, scoreOf(3, 'Fair', null))).quality_reasoning,
    'The quality is fair: 3.00 out of 5. LPIPS failed (The tool timed out); NIQE was used instead.',
  );
});

t.test('texts of a model end with a full stop', async (t) => {
  t.strictSame(['Grain all over', ' Grain. ', 'Grain!', 'It says "blur."'].map(asSentence), [
    'Grain all over.',
    'Grain.',
    'Grain!',
    'It says "blur."',
  ]);
});

const OPEN_QUESTIONS = [
  'How is the overall quality of this image?',
  'Rate the quality of this photo.',
  "What's wrong with this image?",
  'Why does this photo look bad?',
  'Is it good enough for printing?',
  'Is this a bad photo?',
  'How much is it degraded?',
  'Describe the flaws.',
  'Where are the artifacts?',
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

/** The nouns that stand for a category or one of its variants in an answer. */
const NOUNS: Record<DistortionCategory, Record<string, string>> = {
  Blurs: { '': 'blur', 'motion blur': 'motion blur' },
  'Color distortions': {
    '': 'colour problems',
    undersaturation: 'undersaturation',
    oversaturation: 'oversaturation',
    'colour cast': 'colour cast',
  },
  Compression: { '': 'compression artefacts', blocking: 'block artefacts' },
  Noise: { '': 'noise', 'colour noise': 'colour noise', 'stray pixels': 'salt-and-pepper noise' },
  'Brightness change': { '': 'exposure problems', underexposure: 'underexposure', overexposure: 'overexposure' },
  Sharpness: { '': 'lack of sharpness', 'over-sharpening': 'over-sharpening' },
  Contrast: { '': 'contrast problems', 'low contrast': 'lack of contrast', 'excessive contrast': 'excess contrast' },
};

t.test('random evidence: no claim without evidence, and every sentence is well formed', async (t) => {
  const random = createChance(6);
  const faults: string[] = [];
  for (let round = 0; round < 30; round += 1) {
    for (const query of OPEN_QUESTIONS) {
      const categories = random.some(DISTORTION_CATEGORIES, 1 + random.below(4));
      const generated = generateEvidence(random, categories, random.chance(0.5));
      const { evidence, findings, score } = generated;
      const output = await ask(query, evidence, { findings, fuse: () => score });
      for (const fault of findFaults(output, generated))
        faults.push(`${query} → ${output.final_answer} | ${output.quality_reasoning}: ${fault}`);
    }
  }
  t.strictSame(faults.slice(0, 5), [], `${faults.length} faults`);
});

function findFaults(
  { final_answer, quality_reasoning, used_evidence }: Awaited<ReturnType<typeof ask>>,
  { findings, evidence, score }: RandomEvidence,
): string[] {
  const text = `${final_answer}. ${quality_reasoning}`;
  const faults: string[] = [];
  if (/undefined|NaN|null|Infinity|\[object|\{|\}| {2}| [.,;:]|\.\.|;\.|,\./.test(text)) faults.push('malformed');
  for (const sentence of quality_reasoning.split(/(?<=[.!?])\s+/))
    if (!/^["\p{Lu}\d]/u.test(sentence) || !/[.!?]$/.test(sentence)) faults.push(`not a sentence: ${sentence}`);
  if (!/^["\p{Lu}\d]/u.test(final_answer)) faults.push('the answer begins in lower case');
  const quoted = /The quality is (\w+): (\d\.\d\d) out of 5\./.exec(quality_reasoning);
  if ((quoted === null) !== (score === null)) faults.push('a score without evidence, or none');
  if (quoted && score) {
    if (quoted[1] !== score.level.toLowerCase()) faults.push('another level');
    if (Math.abs(Number(quoted[2]) - score.value) > 0.005) faults.push('another score');
    const interval = /its 80 % interval is (\d\.\d\d) to (\d\.\d\d)/i.exec(quality_reasoning);
    if ((interval === null) !== (score.interval === null)) faults.push('an interval without evidence, or none');
  }
  if (LEVELS.some((level) => final_answer === level) && final_answer !== score?.level) faults.push('another level');
  for (const [noun, severities] of listSeverities(findings))
    for (const [, word] of text.matchAll(
      new RegExp(`\\b(no visible|slight|moderate|severe|extreme) ${noun}\\b`, 'gi'),
    )) {
      const said = /^no/i.test(word ?? '') ? 'none' : (word?.toLowerCase() as Severity);
      if (!severities.has(said)) faults.push(`${said} ${noun} where it is ${[...severities].join()}`);
    }
  const places = new Set(findings.flatMap(({ place, severity }) => (place && severity !== 'none' ? place.where : [])));
  for (const [, where] of text.matchAll(
    /(?:strongest|most visible) (?:in the|at the|on the|towards the) (upper left|upper right|lower left|lower right|top|bottom|left|right|centre|edges)/g,
  ))
    if (!places.has(where as 'top')) faults.push(`a place that no map shows: ${where ?? ''}`);
  const isSevere = findings.some(({ severity }) => severity === 'severe' || severity === 'extreme');
  if (isSevere && /No flaw stands out/.test(text) && evidence.distortion_set !== null) faults.push('ignores a flaw');
  const used = used_evidence as { distortion_analysis: unknown[]; quality_score: unknown; measurements: unknown[] };
  if (
    used.distortion_analysis.length !== findings.length ||
    used.quality_score !== (score?.value ?? null) ||
    used.measurements.length !== findings.length
  )
    faults.push('used_evidence is incomplete');
  return faults;
}

/** For each noun the severities that an answer may give it: that of the whole distortion, or of the variant. */
function listSeverities(findings: readonly Finding[]): Map<string, Set<Severity>> {
  return new Map(
    findings.flatMap(({ distortion, severity, variants }) =>
      Object.entries(NOUNS[distortion]).map(([variant, noun]) => [
        noun,
        new Set([severity, ...(variants[variant] ? [variants[variant]] : [])]),
      ]),
    ),
  );
}
