// How model replies are read: case and known synonyms are repaired and reported, everything else is rejected.
import t from 'tap';
import { examinationSchema, readExamination } from '../../../../src/reasoners/vlm/executor/reply.ts';
import { planSchema, readPlan } from '../../../../src/reasoners/vlm/planner/reply.ts';
import { readSummary, summarySchema } from '../../../../src/reasoners/vlm/summarizer/reply.ts';
import { toProviderSchema } from '../../../../src/vlm/providers/provider-schema.ts';
import { GLOBAL_PLAN_ANSWER, LEVELS_ANSWER, MERGED_ANSWER } from '../../../support/providers/model-answers.ts';
import { registry } from '../../../support/run.ts';

const SITUATION = { hasReference: false, replan: null };

t.test('a plan in another case, with an alias for a tool: read as meant, each repair is reported', async (t) => {
  const repairs: string[] = [];
  const plan = readPlan(
    {
      ...GLOBAL_PLAN_ANSWER,
      query_type: 'iqa',
      query_scope: 'Global',
      distortion_source: 'EXPLICIT',
      reference_mode: 'no reference',
      distortions: { Global: ['motion blur'] },
      required_tool: 'brisque',
    },
    registry,
    SITUATION,
    (what) => {
      repairs.push(what);
    },
  );
  t.match(plan, {
    query_type: 'IQA',
    query_scope: 'Global',
    distortions: { Global: ['Blurs'] },
    required_tool: 'BRISQUE',
    reference_mode: 'No-Reference',
  });
  for (const expected of [
    /"iqa" read as "IQA"/,
    /query_scope/,
    /"EXPLICIT"/,
    /"no reference"/,
    /"motion blur" read as "Blurs"/,
    /"brisque" read as "BRISQUE"/,
  ])
    t.ok(
      repairs.some((what) => expected.test(what)),
      String(expected),
    );
});

t.test('"none" means no tool; an unknown tool is rejected', async (t) => {
  const repairs: string[] = [];
  for (const word of ['', 'None', ' null ', 'n/a'])
    t.equal(
      readPlan({ ...GLOBAL_PLAN_ANSWER, required_tool: word }, registry, SITUATION, (what) => {
        repairs.push(what);
      }).required_tool,
      null,
      word,
    );
  t.equal(repairs.filter((what) => /read as no tool/.test(what)).length, 4);
  t.throws(
    () => readPlan({ ...GLOBAL_PLAN_ANSWER, required_tool: 'nonesuch' }, registry, SITUATION, () => undefined),
    /\/required_tool but received "nonesuch"/,
  );
});

t.test("the provider's schema of a plan lists the tools", async (t) => {
  t.match(toProviderSchema(planSchema(['NIQE', 'SSIM'])), {
    properties: { required_tool: { anyOf: [{ type: 'string', enum: ['NIQE', 'SSIM'] }, { type: 'null' }] } },
  });
  t.match(
    toProviderSchema(planSchema([])),
    { properties: { required_tool: { anyOf: [{ type: 'string' }, { type: 'null' }] } } },
    'no empty list: providers reject it',
  );
});

t.test(
  'a selection in lower case is read and reported; infinite numbers, endless lists and unlisted tools are rejected',
  async (t) => {
    const parts = { detection: true, analysis: true, selection: true, boxes: true };
    const lists = { objects: ['Global'], tools: ['NIQE', 'BRISQUE'] };
    const schema = examinationSchema(parts, lists);
    const repairs: string[] = [];
    const read = (change: object) =>
      readExamination({ ...MERGED_ANSWER, ...change }, schema, lists, registry, (what) => {
        repairs.push(what);
      });
    t.match(read({ selected_tools: [{ object: 'global', distortion: 'noise', tool: 'niqe' }] }).selected_tools, [
      { object: 'Global', distortion: 'Noise', tool: 'NIQE' },
    ]);
    t.ok(repairs.includes('"niqe" read as "NIQE"'), repairs.join('; '));
    t.throws(
      () => read({ selected_tools: [{ object: 'Global', distortion: 'Noise', tool: 'SSIM' }] }),
      /SSIM/,
      'in the registry, but not in the list',
    );
    t.throws(
      () => read(JSON.parse('{"boxes":[{"object":"Global","left":1e999,"top":0,"right":9,"bottom":9}]}') as object),
      /\/boxes\/0\/left/,
    );
    t.throws(
      () => read({ distortion_analysis: Array.from({ length: 501 }, () => MERGED_ANSWER.distortion_analysis[0]) }),
      /\/distortion_analysis/,
    );
  },
);

t.test('the label of an option, in the ways models write it; an article is not a label', async (t) => {
  const form = {
    mode: 'multiple_choice' as const,
    options: [
      { letter: 'A', text: 'Noise' },
      { letter: 'B', text: 'Motion blur' },
      { letter: 'C', text: 'None' },
    ],
    declaresProbabilities: false,
  };
  const schema = summarySchema(form);
  const read = (final_answer: string) =>
    readSummary({ ...LEVELS_ANSWER, final_answer }, schema, form, () => undefined).final_answer;
  for (const text of [
    'B',
    'b',
    ' B ',
    '(B)',
    'B.',
    'b) motion blur',
    'B: because it is',
    'B Motion blur',
    'motion blur',
    'Motion blur.',
    'Option B',
    'Answer: B',
    'The correct answer is (B).',
    '"B"',
  ])
    t.equal(read(text), 'B', text);
  for (const text of ['A blurry image', 'a little motion blur', 'A, B', 'D', 'because', 'A2', ''])
    t.throws(() => read(text), /\/final_answer/, text);
});

t.test('endless texts are rejected', async (t) => {
  const form = { mode: 'explanation' as const, options: [], declaresProbabilities: false };
  t.throws(
    () =>
      readSummary(
        { ...LEVELS_ANSWER, quality_reasoning: 'Long. '.repeat(4_000) },
        summarySchema(form),
        form,
        () => undefined,
      ),
    /\/quality_reasoning/,
  );
});
