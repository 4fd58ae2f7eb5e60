// Grades measurements: strengths, severities, variants and explanations.
import t from 'tap';
import { gradeRegion, toSeverity } from '../../../../../src/reasoners/embedded/findings/grading.ts';
import { CLEAN, grade, rules } from '../../../../support/reasoners/embedded-reasoner.ts';

t.test('a typical good photo has no visible distortion', async (t) => {
  t.ok(grade({}).every(({ severity }) => severity === 'none'));
});

t.test('the severity of every indicator begins at its cuts and grows with the value', async (t) => {
  for (const [category, { indicators }] of rules.categories) {
    for (const { measurement, cuts, side, unless } of indicators) {
      const unexplained = unless
        ? { [unless.measurement]: unless.below !== null ? unless.below * 1.5 : (unless.above ?? 0) * 0.5 }
        : {};
      const strengths = cuts.map(
        (cut) =>
          grade({ ...unexplained, [measurement]: cut }).find(({ distortion }) => distortion === category)?.strength ??
          0,
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

t.test('the explanation agrees with its number, whatever the detector says', async (t) => {
  const explain = (changes: Record<string, number>, reference: Record<string, number | null> | null = null) =>
    grade(changes, reference).find(({ distortion }) => distortion === 'Noise')?.explanation;
  t.match(
    explain({ noise_sigma: 2 }),
    /^The noise in smooth areas is 2\.0 of 255 brightness levels; a flaw is visible only from about 4\.3\.$/,
  );
  t.match(explain({ noise_sigma: 20 }), / is 20\.0 of 255 brightness levels; clean photos stay below 1\.5\.$/);
  t.match(
    explain({ noise_sigma: 20, detected_noise: 0.2 }),
    / is 20\.0 .*clean photos stay below 1\.5, but the other measurements do not confirm a flaw\.$/,
  );
  t.match(
    explain({ noise_sigma: 20, detected_noise: 0.2 }, { ...CLEAN, noise_sigma: 19.5 }),
    / is 20\.0 .*; the reference has 19\.5\.$/,
  );
});

t.test('without measurements nothing is claimed', async (t) => {
  const nothing = gradeRegion('Global', { values: {}, reference: null }, rules);
  t.ok(
    nothing.every(
      ({ severity, confidence, explanation }) => severity === 'none' && confidence === 0 && explanation.length > 0,
    ),
  );
});

t.test('severities from strengths', async (t) => {
  t.strictSame([0, 0.99, 1, 2.5, 3.2, 4, 5].map(toSeverity), [
    'none',
    'none',
    'slight',
    'moderate',
    'severe',
    'extreme',
    'extreme',
  ]);
});

t.test('fractions are written as percentages', async (t) => {
  const explain = (changes: Record<string, number>, category: string) =>
    grade(changes).find(({ distortion }) => distortion === category)?.explanation;
  t.equal(
    explain({ highlight_clipping: 0.3, mean_luminance: 120 }, 'Brightness change'),
    '30 % of the image is burnt out to white; most photos stay below 2.2 %.',
  );
  t.equal(
    explain({ impulse_fraction: 0.0177 }, 'Noise'),
    '1.77 % of the pixels are stray dots; clean photos stay below 0.24 %.',
  );
});

t.test('a detection that no measurement confirms is explained by its strength', async (t) => {
  const noise = grade({ detected_noise: 2.456 }).find(({ distortion }) => distortion === 'Noise');
  t.match(noise, { severity: 'moderate', strength: 2.46, variants: {} });
  t.equal(
    noise?.explanation,
    'Compared with graded photos, the strength is 2.46 out of 5; no single measurement shows it.',
  );
});
