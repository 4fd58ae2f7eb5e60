// Examines an image without a model: detection, analysis and tool selection.
import t from 'tap';
import type { ExamineRequest } from '../../../../../src/reasoners/reasoner.ts';
import { WHOLE_IMAGE } from '../../../../../src/tools/evidence/source.ts';
import { ask, buildEvidence, CLEAN, reasoner, signal } from '../../../../support/reasoners/embedded-reasoner.ts';
import { registry } from '../../../../support/run.ts';
import { GLOBAL_PLAN } from '../../../../support/reasoners/scripted-reasoner.ts';

const examineRequest = (
  changes: Partial<ExamineRequest>,
  values: Record<string, number | null> = CLEAN,
): ExamineRequest => ({
  question: { query: 'Rate it.', choices: [] },
  plan: GLOBAL_PLAN,
  regions: [WHOLE_IMAGE],
  named: null,
  ungrounded: [],
  hasReference: false,
  tools: registry.rows,
  shorterSide: () => 512,
  contradictedTools: new Set(),
  replanReason: null,
  measurements: async () => new Map([['Global', { values, reference: null }]]),
  ...changes,
});

t.test(
  'detection always names something to analyse; selection follows strength and avoids contradicted tools',
  async (t) => {
    const clean = await reasoner.examine(examineRequest({}), signal);
    t.equal(clean.distortion_set?.['Global']?.length, 1);
    t.match(clean.distortion_analysis?.['Global'], [{ severity: 'none' }]);
    const noisy = await reasoner.examine(examineRequest({}, { ...CLEAN, noise_sigma: 20 }), signal);
    t.equal(noisy.distortion_set?.['Global']?.[0], 'Noise');
    t.equal(noisy.selected_tools?.['Global']?.['Noise'], 'LiteIQA', 'a learned fusion leads');
    const contradicted = await reasoner.examine(
      examineRequest({ contradictedTools: new Set(['LiteIQA', 'NIQE']) }, { ...CLEAN, noise_sigma: 20 }),
      signal,
    );
    t.equal(contradicted.selected_tools?.['Global']?.['Noise'], 'BRISQUE');
    const small = await reasoner.examine(
      examineRequest({ shorterSide: () => 64, contradictedTools: new Set(['LiteIQA']) }, { ...CLEAN, noise_sigma: 20 }),
      signal,
    );
    t.equal(small.selected_tools?.['Global']?.['Noise'], 'BRISQUE', 'NIQE needs more than 64 pixels');
  },
);

t.test(
  'a question about sharpness is also about blur; blur found by detection is not called over-sharpening',
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
    examineRequest({ measurements: () => Promise.reject(new Error('no sidecar')) }),
    signal,
  );
  t.match(examination, {
    distortion_set: null,
    distortion_analysis: null,
    selected_tools: null,
    failures: [{ subtask: 'measurements' }],
  });
});

t.test('a blurred image is not over-sharpened', async (t) => {
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
  t.match(examined.findings[0], { distortion: 'Sharpness', variants: { 'over-sharpening': 'none' } });
  const gathered = { ...buildEvidence({}, 2), distortion_set: null, distortion_analysis: examined.distortion_analysis };
  t.equal(
    (await ask('Does it look oversharpened?', gathered, { findings: examined.findings })).final_answer,
    'No: no visible over-sharpening',
  );
  t.match(
    (await ask('Is it sharp?', gathered, { findings: examined.findings })).final_answer,
    /^No: .*lack of sharpness/,
  );
});
