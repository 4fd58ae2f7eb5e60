// The paper's rules for the flags, one row per case, and the steps that a replan adds.
import t from 'tap';
import type { Gap } from '../../../../src/pipeline/rules/gaps.ts';
import { derivePlan, type UnderstoodQuery } from '../../../../src/pipeline/rules/plan.ts';
import { parse } from '../../../../schemas/validation/model.ts';
import { PlannerOutput } from '../../../../schemas/pipeline/planner.ts';

const asked = (parts: Partial<UnderstoodQuery> = {}): UnderstoodQuery => ({
  queryType: 'IQA',
  objects: [],
  distortions: null,
  tool: null,
  ...parts,
});
const flagsOf = ({ plan }: PlannerOutput) =>
  [plan.distortion_detection, plan.distortion_analysis, plan.tool_selection, plan.tool_execution]
    .map((on) => (on ? '1' : '0'))
    .join('');
const flags = (parts: Partial<UnderstoodQuery>, gaps?: Gap[], modelReason: string | null = null) =>
  flagsOf(derivePlan(asked(parts), { hasReference: false, replan: gaps ? { gaps, modelReason } : null }));

const blur = { Global: ['Blurs'] } as const;
const car = { objects: ['car'] };

// Scenario: planner-design / Control flag logic (explicit vs inferred distortions)
t.test('flags: detection, analysis, selection, execution', (t) => {
  t.equal(flags({}), '1111', 'nothing named');
  t.equal(flags({ distortions: blur }), '0111', 'distortion named');
  t.equal(flags(car), '1100', 'region only');
  t.equal(flags({ tool: 'SSIM' }), '1101', 'tool only');
  t.equal(flags({ ...car, tool: 'SSIM' }), '1101', 'tool and region');
  t.equal(flags({ ...car, tool: 'SSIM', distortions: { car: ['Noise'] } }), '0101', 'all named');
  t.equal(flags({ distortions: {} }), '1111', 'an empty record names nothing');
  t.equal(flags({ distortions: { Global: [] } }), '1111', 'an empty list names nothing');
  t.end();
});

t.test('Other turns everything off and keeps what was named', (t) => {
  const plan = derivePlan(asked({ queryType: 'Other', objects: ['child'], distortions: blur }), {
    hasReference: true,
    replan: { gaps: [], modelReason: 'anything' },
  });
  t.equal(flagsOf(plan), '0000');
  t.match(plan, {
    query_scope: ['child'],
    distortion_source: 'Inferred',
    distortions: null,
    reference_mode: 'Full-Reference',
  });
  t.end();
});

t.test('the reference decides the mode, the tool is required by name', (t) => {
  t.match(derivePlan(asked({ tool: 'VSI' }), { hasReference: true }), {
    reference_mode: 'Full-Reference',
    required_tool: 'VSI',
  });
  t.match(derivePlan(asked(), { hasReference: false }), { reference_mode: 'No-Reference', required_tool: null });
  t.end();
});

// Scenario: planner-design / Edge cases: no reference image, global scope, multiple objects
t.test('distortions by object', (t) => {
  const of = (objects: string[], distortions: UnderstoodQuery['distortions']) =>
    derivePlan(asked({ objects, distortions }), { hasReference: false }).distortions;
  t.strictSame(of(['cat', 'sofa'], blur), { cat: ['Blurs'], sofa: ['Blurs'] }, 'named jointly');
  t.strictSame(
    of(['sky', 'car'], { sky: ['Noise'], car: ['Blurs', 'Blurs'] }),
    { sky: ['Noise'], car: ['Blurs'] },
    'named apart',
  );
  t.strictSame(
    of([], { vehicle: ['Blurs'], Global: ['Noise'] }),
    { Global: ['Blurs', 'Noise'] },
    'no object in the scope',
  );
  t.strictSame(
    of(['car'], { Global: ['Noise'], car: ['Blurs'] }),
    { car: ['Blurs'], Global: ['Noise'] },
    'image and object',
  );
  t.end();
});

t.test('names: blank, repeated and "Global" are not objects; prototype keys are ordinary names', (t) => {
  t.equal(derivePlan(asked({ objects: [' ', 'global', 'Global'] }), { hasReference: false }).query_scope, 'Global');
  t.strictSame(derivePlan(asked({ objects: ['car', ' car '] }), { hasReference: false }).query_scope, ['car']);
  const plan = derivePlan(asked({ objects: ['__proto__', 'constructor'], distortions: blur }), { hasReference: false });
  t.strictSame(Object.keys(plan.distortions ?? {}), ['__proto__', 'constructor']);
  t.equal(Object.getPrototypeOf(plan.distortions), Object.prototype);
  t.end();
});

t.test('a replan adds the steps for its gaps', (t) => {
  const named = { ...car, distortions: { car: ['Blurs'] } } as const;
  const scores: Gap = { kind: 'missing_scores', region: 'car', distortions: [] };
  const distortions: Gap = { kind: 'missing_distortions', region: 'car' };
  t.equal(flags(named), '0100');
  t.equal(flags(named, [scores]), '0111');
  t.equal(flags({ ...named, tool: 'SSIM' }, [scores]), '0101', 'the named tool stays');
  t.equal(flags(named, [{ kind: 'missing_analysis', region: 'car', distortions: ['Blurs'] }]), '0100');
  t.equal(flags(named, [distortions]), '1100');
  t.equal(flags(named, [scores, distortions]), '1111', 'several gaps');
  t.equal(
    flags(named, [{ kind: 'contradicted_tool', region: 'car', tool: 'NIQE' }]),
    '0111',
    'other tools, the same distortions',
  );
  t.equal(flags({ objects: ['tool box'], distortions: blur }, [{ ...distortions, region: 'tool box' }]), '1100');
  t.end();
});

t.test("a model's own reason is searched for what is missing", (t) => {
  const named = { ...car, distortions: { car: ['Blurs'] } } as const;
  t.equal(flags(named, [], 'Missing tool scores for the car'), '0111');
  t.equal(flags(named, [], '[Iteration 1] Missing distortion detection'), '1100');
  t.equal(flags(named, [], 'The severity of the blur is unknown'), '0100');
  t.equal(flags(named, [], 'Analysis and tools disagree'), '0111', 'other tools, the same distortions');
  t.equal(flags(named, [], 'No reason provided'), '1111', 'an unknown reason turns everything on');
  t.equal(flags(named, [], null), '1111', 'so does none');
  t.equal(
    flags(named, [{ kind: 'missing_distortions', region: 'car' }], 'and there are no tool scores'),
    '1111',
    'added to the gaps',
  );
  t.equal(
    flags({ objects: ['tool box'], distortions: blur }, [], 'Missing distortions for tool box region'),
    '1100',
    "an object's name is not a reason",
  );
  t.end();
});

t.test('every combination is a valid PlannerOutput', (t) => {
  for (const queryType of ['IQA', 'Other'] as const) {
    for (const objects of [[], ['car'], ['a', 'b']]) {
      for (const distortions of [null, blur]) {
        for (const tool of [null, 'SSIM']) {
          const plan = derivePlan({ queryType, objects, distortions, tool }, { hasReference: tool !== null });
          t.strictSame(parse(PlannerOutput, plan), plan);
        }
      }
    }
  }
  t.end();
});
