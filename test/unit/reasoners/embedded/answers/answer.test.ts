// Answers from evidence: every form of question, variants, comparisons and gaps.
import t from 'tap';
import { LEVELS, SEVERITIES, type Severity } from '../../../../../schemas/vocabulary.ts';
import type { SummaryRequest } from '../../../../../src/reasoners/reasoner.ts';
import {
  ask,
  buildEvidence,
  grade,
  type AskOptions,
  type Severities,
} from '../../../../support/reasoners/embedded-reasoner.ts';
import { GLOBAL_PLAN } from '../../../../support/reasoners/scripted-reasoner.ts';

t.test('a rating gives the level word and the score of the JSON, rounded to two digits', async (t) => {
  for (let value = 1; value <= 5; value += 0.25) {
    const { final_answer, quality_reasoning, score } = await ask(
      'Rate the quality of this photo.',
      buildEvidence({ Noise: 'slight' }, value),
    );
    t.equal(final_answer, score?.level);
    const quoted = /^The quality is (\w+): (\d\.\d\d) out of 5\./.exec(quality_reasoning);
    t.equal(quoted?.[1], final_answer.toLowerCase());
    t.ok(Math.abs(Number(quoted?.[2]) - (score?.value ?? 0)) <= 0.005);
    t.equal(LEVELS.filter((level) => new RegExp(`quality is ${level}`, 'i').test(quality_reasoning)).length, 1);
  }
});

t.test('yes or no, for flaws and for virtues', async (t) => {
  const answer = async (query: string, severity: Severity) =>
    (await ask(query, buildEvidence({ Blurs: severity, Sharpness: severity }, 3))).final_answer.split(':')[0];
  const answers = async (query: string) => Promise.all(SEVERITIES.map((severity) => answer(query, severity)));
  t.strictSame(await answers('Is this image blurry?'), ['No', 'Slightly', 'Yes', 'Yes', 'Yes']);
  t.strictSame(await answers('Is this image in focus?'), ['Yes', 'Mostly', 'No', 'No', 'No']);
  const overall = async (score: number) =>
    (await ask('Is it good enough for printing?', buildEvidence({ Noise: 'none' }, score))).final_answer.split(':')[0];
  t.strictSame([await overall(1.2), await overall(3), await overall(4.8)], ['No', 'Borderline', 'Yes']);
});

t.test('multiple choice: distortions, levels, yes and no, and no answer', async (t) => {
  const gathered = buildEvidence({ Noise: 'severe', Blurs: 'slight', Compression: 'none' }, 2.2);
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
    buildEvidence({ Noise: 'severe', Blurs: 'slight', Contrast: 'none' }, 2),
  );
  t.match(final_answer, /^(Severe noise and slight blur|Poor)$/);
  t.match((await ask('Describe the noise.', buildEvidence({ Noise: 'none' }, null))).final_answer, /^No visible noise/);
});

t.test('a question for improvements gets a remedy, a request for a rating gets a rating', async (t) => {
  const noisy = buildEvidence({ Noise: 'severe' }, 2);
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

t.test('gaps ask for a replan and are named, like objects without a box', async (t) => {
  const gaps: SummaryRequest['gaps'] = [{ kind: 'missing_scores', region: 'vehicle', distortions: [] }];
  const { replan, quality_reasoning } = await ask('Is the vehicle blurry?', buildEvidence({}, null), {
    gaps,
    ungrounded: ['vehicle'],
  });
  t.strictSame(replan, { gaps, modelReason: null });
  t.equal(
    quality_reasoning,
    'No box was given for vehicle: what was measured is about the whole image. The evidence is incomplete: Missing tool scores for vehicle region.',
  );
});

t.test('used_evidence lists what the answer is based on', async (t) => {
  const { used_evidence } = await ask('Rate it.', buildEvidence({ Noise: 'slight' }, 4));
  t.match(used_evidence, {
    distortion_analysis: [{ object: 'Global', type: 'Noise', severity: 'slight' }],
    quality_scores: [{ tool: 'NIQE', score: 4 }],
    quality_score: Number,
  });
});

t.test('variants are answered separately: too dark is not too bright', async (t) => {
  const dark = grade({ mean_luminance: 30, dynamic_range: 100 }).find(
    ({ distortion }) => distortion === 'Brightness change',
  );
  t.match(dark?.variants, { underexposure: 'extreme', overexposure: 'none' });
  const findings = dark ? [dark] : [];
  const gathered = buildEvidence({ 'Brightness change': 'extreme' }, 3);
  const answer = async (query: string, choices: string[] = []) =>
    (await ask(query, gathered, { findings, choices })).final_answer;
  t.equal(await answer('Is this photo too dark?'), 'Yes: extreme underexposure');
  t.equal(await answer('Is this photo overexposed?'), 'No: no visible overexposure, but extreme underexposure');
  t.equal(
    await answer('Is the exposure off?'),
    'Yes: extreme underexposure',
    'the variant is named although the question names none',
  );
  t.match(await answer('Is it too dark or too bright?'), /extreme underexposure/);
  t.equal(await answer('What is the problem? A. Overexposure B. Underexposure'), 'B');
  t.equal(await answer('Which is it?', ['Too bright', 'Too dark']), 'B');
});

t.test('both parts of a question are answered', async (t) => {
  const gathered = buildEvidence({ Blurs: 'moderate', Noise: 'none' }, 3);
  t.equal(
    (await ask('Is this image blurry and noisy?', gathered)).final_answer,
    'Partly: moderate blur, but no visible noise',
  );
  t.equal(
    (await ask('Is this image blurry or noisy?', gathered)).final_answer,
    'Yes: moderate blur, but no visible noise',
  );
  t.equal(
    (await ask('Is this image blurry and noisy?', buildEvidence({ Blurs: 'none', Noise: 'none' }, 5))).final_answer,
    'No: no visible blur or noise',
  );
  t.equal(
    (await ask('Is this image blurry and noisy?', buildEvidence({ Blurs: 'severe', Noise: 'slight' }, 2))).final_answer,
    'Yes: severe blur and slight noise',
  );
});

t.test('the first word answers the question as it is worded', async (t) => {
  const answer = async (query: string, severities: Severities, score = 3, changes: AskOptions = {}) =>
    (await ask(query, buildEvidence(severities, score), changes)).final_answer;
  t.match(
    await answer('Could this be sharper?', { Sharpness: 'severe' }),
    /^Yes: /,
    'wanting more of a virtue is a complaint',
  );
  t.match(await answer('Could this be sharper?', { Sharpness: 'none' }), /^No: /);
  t.match(await answer('Is it less noisy than a typical phone picture?', { Noise: 'severe' }), /^No: severe noise/);
  t.match(await answer('Is the exposure right?', { 'Brightness change': 'none' }), /^Yes: /);
  t.match(await answer('Is the exposure right?', { 'Brightness change': 'severe' }), /^No: /);
  t.match(await answer('Is this photo overexposed or underexposed?', { 'Brightness change': 'none' }), /^Neither: /);
  t.match(await answer('Is it overexposed or not?', { 'Brightness change': 'none' }), /^No: /);
  t.equal(await answer('Is the image quality excellent, good, fair, poor or bad?', { Noise: 'none' }, 1.1), 'Bad');
  t.equal(await answer('Does the quality look good or bad?', { Noise: 'none' }, 4), 'Good');
  t.equal(await answer('How severe is the worst distortion?', { Noise: 'severe' }, 2), 'Severe noise');
  t.match(await answer('How severe is the worst distortion?', { Noise: 'none' }, 4), /^No flaw stands out/);
  t.equal(await answer('What differs between the reference and this image?', { Noise: 'severe' }, 2), 'Severe noise');
  t.match(
    await answer('Are blocking artefacts visible?', { Compression: 'none' }),
    /^No: no visible/,
    '"visible" does not praise a flaw',
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
    'neither of the two alternatives is a yes',
  );
  t.match(await answer('Anything wrong with it?', { Noise: 'none' }, 4.8), /^No: /);
  t.match(await answer('Would you accept this picture?', { Noise: 'none' }, 4.8), /^Yes: /);
  t.equal(
    await answer('Did the denoising blur the image?', { Blurs: 'severe', Noise: 'none' }),
    'Yes: severe blur',
    'the treatment is not its effect',
  );
});

t.test('comparisons with the reference', async (t) => {
  const plan = { ...GLOBAL_PLAN, reference_mode: 'Full-Reference' as const };
  const answer = async (query: string, severities: Severities, findings: SummaryRequest['findings'] = []) =>
    (await ask(query, buildEvidence(severities, 4.9), { plan, findings })).final_answer;
  t.equal(
    await answer('Is it sharper than the original?', { Sharpness: 'none' }),
    'No: no visible difference',
    'tools do not see a gain',
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
  const without = await ask('Compare it with the original.', buildEvidence({ Noise: 'severe' }, 2));
  t.match(without.quality_reasoning, /No reference image was given, so nothing could be compared with it\./);
  t.notMatch(
    (await ask('Which of the two is noisier?', buildEvidence({ Noise: 'severe' }, 2))).quality_reasoning,
    /No reference/,
    'it may mean images that were not sent',
  );
});

t.test('objects without boxes are not compared', async (t) => {
  const { final_answer, quality_reasoning } = await ask(
    'Which is blurrier, the dog or the fence?',
    buildEvidence({ Blurs: 'severe' }, null),
    { ungrounded: ['dog', 'fence'] },
  );
  t.equal(final_answer, 'Unable to determine');
  t.match(quality_reasoning, /The dog and the fence cannot be compared without a box\./);
});
