// The embedded reasoner beyond understanding: grading measurements, examining a picture, answering from the evidence.
import { join } from 'node:path';
import t from 'tap';
import type { ExecutorOutput } from '../../../../schemas/pipeline/executor.ts';
import type { DISTORTION_CATEGORIES } from '../../../../schemas/vocabulary.ts';
import { LEVELS, SEVERITIES, type Severity } from '../../../../schemas/vocabulary.ts';
import { projectRoot } from '../../../../src/config/config.ts';
import { fuse, levelOf, weighLeadTools } from '../../../../src/pipeline/rules/fusion.ts';
import { gradeRegion, severityOf } from '../../../../src/reasoners/embedded/findings/grading.ts';
import { loadLexicon } from '../../../../src/reasoners/embedded/query/lexicon.ts';
import { createEmbeddedReasoner } from '../../../../src/reasoners/embedded/reasoner.ts';
import { loadSeverityRules } from '../../../../src/reasoners/embedded/findings/severity-rules.ts';
import type { ExamineRequest, SummaryRequest } from '../../../../src/reasoners/reasoner.ts';
import { WHOLE_PICTURE } from '../../../../src/tools/evidence/source.ts';
import { registry } from '../../../support/run.ts';
import { GLOBAL_PLAN } from '../../../support/scripted-reasoner.ts';

const rules = loadSeverityRules(projectRoot());
const reasoner = createEmbeddedReasoner({
  lexicon: loadLexicon(join(projectRoot(), 'configs/lexicon.yaml')),
  rules,
  registry,
});
const signal = new AbortController().signal;

/** Every measurement in the middle of where good photos lie. */
const CLEAN: Record<string, number> = Object.fromEntries(
  [...rules.categories.values()].flatMap(({ indicators }) =>
    indicators.map(({ measurement, clean: [low = 0, high = 0] }) => [measurement, (low + high) / 2]),
  ),
);
const grade = (changes: Record<string, number | null>, reference: Record<string, number | null> | null = null) =>
  gradeRegion('Global', { values: { ...CLEAN, ...changes }, reference }, rules);

t.test('a typical good photo has nothing to show', async (t) => {
  t.ok(grade({}).every(({ severity }) => severity === 'none'));
});

t.test('every indicator: its severity begins at its cuts and grows with the value', async (t) => {
  for (const [category, { indicators }] of rules.categories) {
    for (const { measurement, cuts, side, unless } of indicators) {
      const excuse = unless
        ? { [unless.measurement]: unless.below !== null ? unless.below * 1.5 : (unless.above ?? 0) * 0.5 }
        : {};
      const strengths = cuts.map(
        (cut) =>
          grade({ ...excuse, [measurement]: cut }).find(({ distortion }) => distortion === category)?.strength ?? 0,
      );
      strengths.forEach((strength, index) =>
        t.ok(strength >= index + 1 - 1e-9, `${category} by ${measurement} (${side}) at cut ${index + 1}`),
      );
    }
  }
});

t.test('what the reference already shows is not a distortion', async (t) => {
  const blurred = { edge_width_px: 9, edge_width_sharp_px: 6 };
  t.equal(grade(blurred)[0]?.distortion, 'Blurs');
  t.ok(grade(blurred, { ...CLEAN, ...blurred }).every(({ severity }) => severity === 'none'));
  t.equal(grade(blurred, CLEAN)[0]?.distortion, 'Blurs');
});

t.test('the words agree with the number beside them, whatever the machine makes of the whole', async (t) => {
  const explain = (changes: Record<string, number>, reference: Record<string, number | null> | null = null) =>
    grade(changes, reference).find(({ distortion }) => distortion === 'Noise')?.explanation;
  t.match(explain({ noise_sigma: 2 }), /2\.0 grey levels .*a flaw shows only from about 4\.3/);
  t.match(explain({ noise_sigma: 20 }), /20\.0 grey levels .*clean photos stay below 1\.5\.$/);
  t.match(
    explain({ noise_sigma: 20, seen_noise: 0.2 }),
    /20\.0 grey levels .*clean photos stay below 1\.5, but the rest of the picture does not bear a flaw out/,
  );
  t.match(
    explain({ noise_sigma: 20, seen_noise: 0.2 }, { ...CLEAN, noise_sigma: 19.5 }),
    /20\.0 grey levels .*the reference has 19\.5\.$/,
  );
});

t.test('nothing measured, nothing claimed', async (t) => {
  const nothing = gradeRegion('Global', { values: {}, reference: null }, rules);
  t.ok(
    nothing.every(
      ({ severity, confidence, explanation }) => severity === 'none' && confidence === 0 && explanation.length > 0,
    ),
  );
});

t.test('severities from strengths', async (t) => {
  t.strictSame([0, 0.99, 1, 2.5, 3.2, 4, 5].map(severityOf), [
    'none',
    'none',
    'slight',
    'moderate',
    'severe',
    'extreme',
    'extreme',
  ]);
});

const examineRequest = (
  changes: Partial<ExamineRequest>,
  values: Record<string, number | null> = CLEAN,
): ExamineRequest => ({
  query: 'Rate it.',
  plan: GLOBAL_PLAN,
  regions: [WHOLE_PICTURE],
  named: null,
  ungrounded: [],
  hasReference: false,
  tools: registry.rows,
  shorterSide: () => 512,
  doubted: new Set(),
  measurements: async () => new Map([['Global', { values, reference: null }]]),
  ...changes,
});

t.test(
  'detection always names something to look at; selection follows strength and avoids doubted tools',
  async (t) => {
    const clean = await reasoner.examine(examineRequest({}), signal);
    t.equal(clean.distortion_set?.['Global']?.length, 1);
    t.match(clean.distortion_analysis?.['Global'], [{ severity: 'none' }]);
    const noisy = await reasoner.examine(examineRequest({}, { ...CLEAN, noise_sigma: 20 }), signal);
    t.equal(noisy.distortion_set?.['Global']?.[0], 'Noise');
    t.equal(noisy.selected_tools?.['Global']?.['Noise'], 'LiteIQA', 'a learned fusion leads');
    const doubted = await reasoner.examine(
      examineRequest({ doubted: new Set(['LiteIQA', 'NIQE']) }, { ...CLEAN, noise_sigma: 20 }),
      signal,
    );
    t.equal(doubted.selected_tools?.['Global']?.['Noise'], 'BRISQUE');
    const small = await reasoner.examine(
      examineRequest({ shorterSide: () => 64, doubted: new Set(['LiteIQA']) }, { ...CLEAN, noise_sigma: 20 }),
      signal,
    );
    t.equal(small.selected_tools?.['Global']?.['Noise'], 'BRISQUE', 'NIQE refuses a picture of 64 pixels');
  },
);

t.test(
  'a question about sharpness is about blur as well; blur that was found by itself is not called over-sharpening',
  async (t) => {
    const blurred = { ...CLEAN, edge_width_px: 8, edge_width_sharp_px: 5 };
    const named = await reasoner.examine(
      examineRequest(
        {
          named: { Global: ['Sharpness'] },
          plan: { ...GLOBAL_PLAN, plan: { ...GLOBAL_PLAN.plan, distortion_detection: false } },
        },
        blurred,
      ),
      signal,
    );
    t.match(named.distortion_analysis?.['Global'], [
      { type: 'Sharpness', severity: 'severe', explanation: /edges are/i },
    ]);
    const found = await reasoner.examine(examineRequest({}, blurred), signal);
    t.strictSame(found.distortion_set?.['Global'], ['Blurs']);
  },
);

t.test('measurements that fail are reported, not guessed', async (t) => {
  const examination = await reasoner.examine(
    examineRequest({ measurements: () => Promise.reject(new Error('dark')) }),
    signal,
  );
  t.match(examination, {
    distortion_set: null,
    distortion_analysis: null,
    selected_tools: null,
    failures: [{ subtask: 'measurements' }],
  });
});

function evidence(
  analysed: Partial<Record<(typeof DISTORTION_CATEGORIES)[number], Severity>>,
  score: number | null,
): ExecutorOutput {
  return {
    distortion_set: null,
    selected_tools: null,
    tool_logs: [],
    distortion_analysis: {
      Global: Object.entries(analysed).map(([type, severity]) => ({
        type: type as 'Noise',
        severity,
        explanation: `${type} was measured.`,
      })),
    },
    quality_scores: score === null ? null : { Global: { Noise: ['NIQE', score] } },
  };
}

async function ask(query: string, gathered: ExecutorOutput, changes: Partial<SummaryRequest> = {}) {
  const { output, score } = await reasoner.summarize(
    {
      query,
      choices: [],
      plan: GLOBAL_PLAN,
      evidence: gathered,
      regions: [WHOLE_PICTURE],
      findings: [],
      gaps: [],
      ungrounded: [],
      fuse: (own) =>
        fuse(
          weighLeadTools(gathered, () => undefined),
          own,
          1,
        ),
      ...changes,
    },
    signal,
  );
  return { ...output, score };
}

t.test('scoring: the level word, never at odds with the number', async (t) => {
  for (let value = 1; value <= 5; value += 0.25) {
    const { final_answer, quality_reasoning, score } = await ask(
      'Rate the quality of this photo.',
      evidence({ Noise: 'slight' }, value),
    );
    t.equal(final_answer, score?.level);
    const told = Number(/, (\d\.\d\d) of 5/.exec(quality_reasoning)?.[1]);
    t.ok(quality_reasoning.includes(`The quality is ${final_answer.toLowerCase()}, `));
    t.equal(levelOf(told), final_answer, 'also as printed');
    t.equal(LEVELS.filter((level) => new RegExp(`quality is ${level}`, 'i').test(quality_reasoning)).length, 1);
  }
});

t.test('yes or no, for flaws and for virtues', async (t) => {
  const answer = async (query: string, severity: Severity) =>
    (await ask(query, evidence({ Blurs: severity, Sharpness: severity }, 3))).final_answer.split(':')[0];
  const answers = async (query: string) => Promise.all(SEVERITIES.map((severity) => answer(query, severity)));
  t.strictSame(await answers('Is this image blurry?'), ['No', 'Slightly', 'Yes', 'Yes', 'Yes']);
  t.strictSame(await answers('Is this image in focus?'), ['Yes', 'Mostly', 'No', 'No', 'No']);
  const overall = async (score: number) =>
    (await ask('Is it good enough for printing?', evidence({ Noise: 'none' }, score))).final_answer.split(':')[0];
  t.strictSame([await overall(1.2), await overall(3), await overall(4.8)], ['No', 'Borderline', 'Yes']);
});

t.test('multiple choice: distortions, levels, yes and no, and an honest none', async (t) => {
  const gathered = evidence({ Noise: 'severe', Blurs: 'slight', Compression: 'none' }, 2.2);
  const letter = async (query: string, choices: string[] = []) =>
    (await ask(query, gathered, { choices })).final_answer;
  t.equal(await letter('Which distortion is most apparent?\nA. Blur\nB. Noise\nC. JPEG artifacts'), 'B');
  t.equal(await letter('Which flaw is worst? (A) compression (B) blur'), 'B');
  t.equal(await letter('How is the quality? A. Excellent B. Fair C. Poor D. Bad'), 'C');
  t.equal(await letter('How noisy is it?', ['Not at all', 'Moderately', 'Extremely']), 'B');
  t.equal(await letter('Is this image noisy?', ['Yes', 'No']), 'A');
  t.equal(await letter('What is shown? A. 17 B. 42'), 'Unable to determine');
});

t.test('an open question is answered in short, worst first', async (t) => {
  const { final_answer } = await ask(
    "What's wrong with this image?",
    evidence({ Noise: 'severe', Blurs: 'slight', Contrast: 'none' }, 2),
  );
  t.match(final_answer, /^(Severe noise and slight blur|Poor)$/);
  t.match((await ask('Describe the noise.', evidence({ Noise: 'none' }, null))).final_answer, /^No visible noise/);
});

t.test('who asks what would help is told what would help, who asks for a rating is rated', async (t) => {
  const noisy = evidence({ Noise: 'severe' }, 2);
  for (const query of [
    'What would make it better?',
    'How can I improve this image?',
    'What could be done to fix the picture?',
    'How do I make this photo better?',
    'Any tips to enhance it?',
  ]) {
    const { final_answer, quality_reasoning } = await ask(query, noisy);
    t.match(final_answer, /denoising would reduce it/, query);
    t.match(quality_reasoning, /denoising would reduce it/, query);
  }
  t.equal((await ask('Rate the restored photo.', noisy)).final_answer, 'Poor');
  t.equal((await ask('Rate the quality of the corrected picture.', noisy)).final_answer, 'Poor');
});

t.test('gaps become a request for a replan that names them; ungrounded objects are told', async (t) => {
  const { need_replan, replan_reason, quality_reasoning } = await ask('Is the vehicle blurry?', evidence({}, null), {
    gaps: ['Missing tool scores for vehicle region'],
    ungrounded: ['vehicle'],
  });
  t.equal(need_replan, true);
  t.equal(replan_reason, 'Missing tool scores for vehicle region');
  t.match(
    quality_reasoning,
    /No box was given for vehicle, so this is about the whole picture\. The evidence is incomplete: Missing tool scores for vehicle region\./,
  );
});

t.test('used_evidence names what the answer rests on', async (t) => {
  const { used_evidence } = await ask('Rate it.', evidence({ Noise: 'slight' }, 4));
  t.match(used_evidence, {
    distortion_analysis: [{ object: 'Global', type: 'Noise', severity: 'slight' }],
    quality_scores: [{ tool: 'NIQE', score: 4 }],
    quality_score: Number,
  });
});

t.test('each side of a distortion is told apart: too dark is not too bright', async (t) => {
  const dark = grade({ mean_luminance: 30, dynamic_range: 100 }).find(
    ({ distortion }) => distortion === 'Brightness change',
  );
  t.match(dark?.sides, { underexposure: 'extreme', overexposure: 'none' });
  const findings = dark ? [dark] : [];
  const gathered = evidence({ 'Brightness change': 'extreme' }, 3);
  const answer = async (query: string, choices: string[] = []) =>
    (await ask(query, gathered, { findings, choices })).final_answer;
  t.equal(await answer('Is this photo too dark?'), 'Yes: extreme underexposure');
  t.equal(await answer('Is this photo overexposed?'), 'No: no visible overexposure, but extreme underexposure');
  t.equal(
    await answer('Is the exposure off?'),
    'Yes: extreme underexposure',
    'the side is named though it was not asked for',
  );
  t.match(await answer('Is it too dark or too bright?'), /extreme underexposure/);
  t.equal(await answer('What is the problem? A. Overexposure B. Underexposure'), 'B');
  t.equal(await answer('Which is it?', ['Too bright', 'Too dark']), 'B');
});

t.test('a question with two parts gets both answered', async (t) => {
  const gathered = evidence({ Blurs: 'moderate', Noise: 'none' }, 3);
  t.equal(
    (await ask('Is this image blurry and noisy?', gathered)).final_answer,
    'Partly: moderate blur, but no visible noise',
  );
  t.equal(
    (await ask('Is this image blurry or noisy?', gathered)).final_answer,
    'Yes: moderate blur, but no visible noise',
  );
  t.equal(
    (await ask('Is this image blurry and noisy?', evidence({ Blurs: 'none', Noise: 'none' }, 5))).final_answer,
    'No: no visible blur or noise',
  );
  t.equal(
    (await ask('Is this image blurry and noisy?', evidence({ Blurs: 'severe', Noise: 'slight' }, 2))).final_answer,
    'Yes: severe blur and slight noise',
  );
});

t.test('the first word answers the question as it was put', async (t) => {
  const answer = async (
    query: string,
    severities: Parameters<typeof evidence>[0],
    score = 3,
    changes: Partial<SummaryRequest> = {},
  ) => (await ask(query, evidence(severities, score), changes)).final_answer;
  t.match(await answer('Could this be sharper?', { Sharpness: 'severe' }), /^Yes: /, 'who wants more of it complains');
  t.match(await answer('Could this be sharper?', { Sharpness: 'none' }), /^No: /);
  t.match(await answer('Is it less noisy than a typical phone picture?', { Noise: 'severe' }), /^No: severe noise/);
  t.match(await answer('Is the exposure right?', { 'Brightness change': 'none' }), /^Yes: /);
  t.match(await answer('Is the exposure right?', { 'Brightness change': 'severe' }), /^No: /);
  t.match(await answer('Is this photo overexposed or underexposed?', { 'Brightness change': 'none' }), /^Neither: /);
  t.match(await answer('Is it overexposed or not?', { 'Brightness change': 'none' }), /^No: /);
  t.equal(await answer('Is the image quality excellent, good, fair, poor or bad?', { Noise: 'none' }, 1.1), 'Bad');
  t.equal(await answer('Does the quality look good or bad?', { Noise: 'none' }, 4), 'Good');
  t.equal(await answer('How severe is the worst distortion?', { Noise: 'severe' }, 2), 'Severe noise');
  t.match(await answer('How severe is the worst distortion?', { Noise: 'none' }, 4), /^No distortion stands out/);
  t.equal(await answer('What differs between the reference and this image?', { Noise: 'severe' }, 2), 'Severe noise');
  t.match(
    await answer('Are blocking artefacts visible?', { Compression: 'none' }),
    /^No: no visible/,
    'visible is no praise of a flaw',
  );
  t.match(await answer('Are blocking artefacts visible?', { Compression: 'severe' }), /^Yes: severe/);
  t.match(await answer('Is the noise acceptable?', { Noise: 'severe' }), /^No: severe/);
  t.match(
    await answer('Are the brightness and the contrast OK?', { 'Brightness change': 'none', Contrast: 'none' }),
    /^Yes: no visible/,
    'one verdict for both',
  );
  t.match(
    await answer('Are the brightness and the contrast OK?', { 'Brightness change': 'none', Contrast: 'severe' }),
    /^Partly: /,
  );
  t.match(
    await answer('Can I use this as a product photo or is the quality too poor?', { Noise: 'severe' }, 1.2),
    /^No: the overall quality is bad/,
  );
  t.match(
    await answer('Can I use this as a product photo or is the quality too poor?', { Noise: 'none' }, 4.8),
    /^Yes: the overall quality is excellent/,
  );
  t.equal(
    await answer('Is the text legible or too blurry?', { Blurs: 'severe' }),
    'Severe blur',
    'of two things offered neither is yes',
  );
  t.match(await answer('Anything wrong with it?', { Noise: 'none' }, 4.8), /^No: /);
  t.match(await answer('Would you accept this picture?', { Noise: 'none' }, 4.8), /^Yes: /);
  t.equal(
    await answer('Did the denoising blur the image?', { Blurs: 'severe', Noise: 'none' }),
    'Yes: severe blur',
    'what was treated is not what was done',
  );
});

t.test('who compares with the reference is told of the difference', async (t) => {
  const plan = { ...GLOBAL_PLAN, reference_mode: 'Full-Reference' as const };
  const answer = async (
    query: string,
    severities: Parameters<typeof evidence>[0],
    findings: SummaryRequest['findings'] = [],
  ) => (await ask(query, evidence(severities, 4.9), { plan, findings })).final_answer;
  t.equal(
    await answer('Is it sharper than the original?', { Sharpness: 'none' }),
    'No: no visible difference',
    'a gain is not seen',
  );
  t.match(await answer('Is it sharper than the original?', { Sharpness: 'severe' }), /^No: severe/);
  t.match(await answer('Is the original sharper than this one?', { Sharpness: 'severe' }), /^Yes: severe/);
  t.equal(await answer('Is the original sharper than this one?', { Sharpness: 'none' }), 'No: no visible difference');
  t.match(await answer('Is it blurrier than the reference?', { Blurs: 'severe' }), /^Yes: severe/);
  t.match(await answer('Is the reference blurrier than this?', { Blurs: 'severe' }), /^No: severe/);
  t.match(await answer('Is it as sharp as the original?', { Sharpness: 'none' }), /^Yes: /);
  const darker = grade({ mean_luminance: 30, dynamic_range: 100 }).filter(
    ({ distortion }) => distortion === 'Brightness change',
  );
  t.match(
    await answer('Is it darker than the original?', { 'Brightness change': 'extreme' }, darker),
    /^Yes: extreme underexposure/,
  );
  t.match(
    await answer('Is it brighter than the original?', { 'Brightness change': 'extreme' }, darker),
    /^No: extreme underexposure/,
  );
  t.match(
    await answer('Is the original brighter than this one?', { 'Brightness change': 'extreme' }, darker),
    /^Yes: extreme underexposure/,
  );
  t.equal(
    await answer('Compared with the reference, this image is: A. sharper B. blurrier C. the same', {
      Sharpness: 'none',
      Blurs: 'none',
    }),
    'C',
  );
  t.equal(
    await answer('Compared with the reference, this image is: A. sharper B. blurrier C. the same', {
      Sharpness: 'severe',
      Blurs: 'severe',
    }),
    'B',
  );
  const without = await ask('Compare it with the original.', evidence({ Noise: 'severe' }, 2));
  t.match(without.quality_reasoning, /No reference was given, so nothing was compared with one\./);
  t.notMatch(
    (await ask('Which of the two is noisier?', evidence({ Noise: 'severe' }, 2))).quality_reasoning,
    /No reference/,
    'they may be compared elsewhere',
  );
});

t.test('what was not looked at apart is not compared', async (t) => {
  const { final_answer, quality_reasoning } = await ask(
    'Which is blurrier, the dog or the fence?',
    evidence({ Blurs: 'severe' }, null),
    { ungrounded: ['dog', 'fence'] },
  );
  t.equal(final_answer, 'Unable to determine');
  t.match(quality_reasoning, /Without a box, the dog and the fence cannot be compared\./);
});

t.test('a blurred picture is not over-sharpened', async (t) => {
  const blurred = { ...CLEAN, edge_width_px: 6.2, edge_width_sharp_px: 4.3 };
  const examined = await reasoner.examine(
    examineRequest(
      {
        named: { Global: ['Sharpness'] },
        plan: { ...GLOBAL_PLAN, plan: { ...GLOBAL_PLAN.plan, distortion_detection: false } },
      },
      blurred,
    ),
    signal,
  );
  t.match(examined.findings[0], { distortion: 'Sharpness', sides: { 'over-sharpening': 'none' } });
  const gathered = { ...evidence({}, 2), distortion_set: null, distortion_analysis: examined.distortion_analysis };
  t.equal(
    (await ask('Does it look oversharpened?', gathered, { findings: examined.findings })).final_answer,
    'No: no visible over-sharpening',
  );
  t.match(
    (await ask('Is it sharp?', gathered, { findings: examined.findings })).final_answer,
    /^No: .*lack of sharpness/,
  );
});
