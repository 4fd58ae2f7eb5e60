// Gaps in generated evidence, which is complete, incomplete or contradictory by construction, so that the right gaps are known.
import t, { type Test } from 'tap';
import type { ExecutorOutput } from '../../../schemas/pipeline/executor.ts';
import type { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { DISTORTION_CATEGORIES, GLOBAL, type DistortionCategory, type Severity } from '../../../schemas/vocabulary.ts';
import { findGaps, formatGap, NO_TOOLS, type Gap } from '../../../src/pipeline/rules/gaps.ts';
import { derivePlan, type UnderstoodQuery } from '../../../src/pipeline/rules/plan.ts';
import { resolveScope, type Scope } from '../../../src/pipeline/rules/scope.ts';
import { loadLexicon } from '../../../src/reasoners/embedded/query/words/lexicon.ts';
import { createQueryParser } from '../../../src/reasoners/embedded/query/parse-query.ts';
import { createEmbeddedReasoner } from '../../../src/reasoners/embedded/reasoner.ts';
import { loadSeverityRules } from '../../../src/reasoners/embedded/findings/severity-rules.ts';
import { projectRoot } from '../../../src/config/config.ts';
import { calibrate } from '../../../src/tools/calibration.ts';
import { createChance, type Random } from '../../support/random.ts';
import { registry, runGraph, scriptEvidence } from '../../support/run.ts';

const MISSING_SCORES: Gap = { kind: 'missing_scores', region: GLOBAL, distortions: [] };
const OBJECTS = ['vehicle', 'dog', 'tool box', 'scoreboard', 'analysis chart'];
/** Distortions that NIQE reacts to, according to the registry, and those that it does not. */
const SEEN = DISTORTION_CATEGORIES.filter((category) => (registry.strengthOf('NIQE', category) ?? 0) >= 0.5);
const UNSEEN = DISTORTION_CATEGORIES.filter((category) => (registry.strengthOf('NIQE', category) ?? 0) < 0.5);

interface Situation {
  understood: UnderstoodQuery;
  plan: PlannerOutput;
  scope: Scope;
  evidence: ExecutorOutput;
  /** A region that the plan asks everything about. */
  region: string;
}

/** Everything that the plan asks for is there, and nothing contradicts. */
function completeSituation(random: Random): Situation {
  const objects = random.some(OBJECTS, random.below(3));
  const boxes = objects.filter(() => random.chance(0.7)).map((name) => ({ name, box: [0, 0, 200, 200] }));
  const keys = objects.length > 0 ? objects : [GLOBAL];
  const named = random.chance(0.4)
    ? Object.fromEntries(keys.map((key) => [key, random.some(DISTORTION_CATEGORIES, 1 + random.below(3))]))
    : null;
  const understood: UnderstoodQuery = { queryType: 'IQA', objects, distortions: named, tool: null };
  // Half of them are second rounds, in which tools are on for objects too.
  const replan = random.chance(0.5) ? { gaps: [MISSING_SCORES], modelReason: null } : null;
  const plan = derivePlan(understood, { hasReference: random.chance(0.3), replan });
  const scope = resolveScope(plan, boxes);
  const sets = scope.regions.map(({ name }): [string, DistortionCategory[]] => [
    name,
    scope.named?.[name] ?? (scope.named ? [] : random.some(DISTORTION_CATEGORIES, 1 + random.below(3))),
  ]);
  const asked = sets.filter(([, categories]) => categories.length > 0);
  const severity = (): Severity => random.pick(['none', 'slight', 'moderate', 'severe'] as const);
  const evidence: ExecutorOutput = {
    distortion_set: plan.plan.distortion_detection ? Object.fromEntries(sets) : null,
    distortion_analysis: Object.fromEntries(
      asked.map(([name, categories]) => [
        name,
        categories.map((type) => ({ type, severity: severity(), explanation: 'Seen.' })),
      ]),
    ),
    selected_tools: null,
    quality_scores: plan.plan.tool_execution
      ? Object.fromEntries(
          asked.map(([name, categories]) => [
            name,
            Object.fromEntries(categories.map((type) => [type, ['NIQE', random.between(1.6, 4.4)]])),
          ]),
        )
      : null,
    tool_logs: [],
  };
  return { understood, plan, scope, evidence, region: random.pick(asked.map(([name]) => name)) };
}

interface Change {
  name: string;
  /** Changes the evidence and returns the expected gaps as text; null where the situation does not allow the change. */
  apply: (situation: Situation, random: Random) => string[] | null;
}

const without = <T>(record: Record<string, T> | null, key: string): Record<string, T> | null =>
  record && Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));

const title = (region: string): string => (region === GLOBAL ? GLOBAL : `${region} region`);
const wanted = ({ evidence, region }: Situation): DistortionCategory[] =>
  (evidence.distortion_analysis?.[region] ?? []).map(({ type }) => type);

function setOnly(situation: Situation, type: DistortionCategory, severity: Severity, score: number): void {
  const { evidence, region } = situation;
  evidence.distortion_analysis = {
    ...evidence.distortion_analysis,
    [region]: [{ type, severity, explanation: 'Seen.' }],
  };
  if (evidence.distortion_set) evidence.distortion_set = { ...evidence.distortion_set, [region]: [type] };
  else situation.scope = { ...situation.scope, named: { ...situation.scope.named, [region]: [type] } };
  evidence.quality_scores = { ...evidence.quality_scores, [region]: { [type]: ['NIQE', score] } };
}

const CHANGES: Change[] = [
  { name: 'complete', apply: () => [] },
  {
    name: 'another kind of question',
    apply: (situation) => {
      situation.plan = { ...situation.plan, query_type: 'Other' };
      situation.evidence = { ...situation.evidence, distortion_analysis: null, quality_scores: null };
      return [];
    },
  },
  {
    name: 'no analysis of a region',
    apply: ({ evidence, region }) => {
      evidence.distortion_analysis = without(evidence.distortion_analysis, region);
      return [`Missing distortion analysis for ${title(region)}`];
    },
  },
  {
    name: 'no analysis at all',
    apply: (situation) => {
      const regions = situation.scope.regions
        .map(({ name }) => name)
        .filter((name) => situation.evidence.distortion_analysis?.[name]);
      situation.evidence.distortion_analysis = null;
      return regions.map((region) => `Missing distortion analysis for ${title(region)}`);
    },
  },
  {
    name: 'one analysis is missing',
    apply: (situation) => {
      const { evidence, region } = situation;
      const [first] = wanted(situation);
      if (wanted(situation).length < 2 || !first) return null;
      evidence.distortion_analysis = {
        ...evidence.distortion_analysis,
        [region]: (evidence.distortion_analysis?.[region] ?? []).slice(1),
      };
      return [`Missing distortion analysis for ${title(region)} (${first})`];
    },
  },
  {
    name: 'no scores of a region',
    apply: ({ evidence, region }) => {
      if (!evidence.quality_scores) return null;
      evidence.quality_scores = without(evidence.quality_scores, region);
      return [`Missing tool scores for ${title(region)}`];
    },
  },
  {
    name: 'one score is missing',
    apply: (situation) => {
      const { evidence, region } = situation;
      const last = wanted(situation).at(-1);
      if (!evidence.quality_scores || wanted(situation).length < 2 || !last) return null;
      evidence.quality_scores = {
        ...evidence.quality_scores,
        [region]: without(evidence.quality_scores[region] ?? {}, last) ?? {},
      };
      return [`Missing tool scores for ${title(region)} (${last})`];
    },
  },
  {
    name: 'no tool could be run at all',
    apply: ({ evidence }) => {
      if (!evidence.quality_scores) return null;
      evidence.quality_scores = null;
      evidence.tool_logs.push({
        tool_name: NO_TOOLS,
        object_name: GLOBAL,
        distortion: 'Unknown',
        raw_score: null,
        normalized_score: null,
        execution_time: 0,
        fallback: false,
        error: 'down',
        timestamp: '2026-01-01T00:00:00.000Z',
      });
      return [];
    },
  },
  {
    name: 'nothing was detected on a region',
    apply: ({ evidence, plan, region }) => {
      if (!evidence.distortion_set) return null;
      evidence.distortion_set = { ...evidence.distortion_set, [region]: [] };
      evidence.distortion_analysis = without(evidence.distortion_analysis, region);
      evidence.quality_scores = without(evidence.quality_scores, region);
      return [
        `Missing distortions for ${title(region)}`,
        `Missing distortion analysis for ${title(region)}`,
        ...(plan.plan.tool_execution ? [`Missing tool scores for ${title(region)}`] : []),
      ];
    },
  },
  {
    name: 'extreme, with a high score from a tool that reacts to it',
    apply: (situation, random) => {
      if (!situation.evidence.quality_scores) return null;
      setOnly(situation, random.pick(SEEN), 'extreme', random.between(4.5, 5));
      return [`Contradicting analysis and tool scores for ${title(situation.region)}`];
    },
  },
  {
    name: 'extreme, with a high score from a tool that does not react to it',
    apply: (situation, random) => {
      if (!situation.evidence.quality_scores) return null;
      setOnly(situation, random.pick(UNSEEN), 'extreme', random.between(4.5, 5));
      return [];
    },
  },
  {
    name: 'extreme with a fairly high score, or severe with a high one',
    apply: (situation, random) => {
      if (!situation.evidence.quality_scores) return null;
      if (random.chance(0.5)) setOnly(situation, random.pick(SEEN), 'extreme', 4.4);
      else setOnly(situation, random.pick(SEEN), 'severe', 5);
      return [];
    },
  },
  {
    name: 'a very low score without any distortion',
    apply: (situation, random) => {
      if (!situation.evidence.quality_scores) return null;
      setOnly(situation, random.pick(SEEN), 'none', random.between(1, 1.5));
      // Without detection only the named distortions were analysed: another one may explain the score.
      return situation.evidence.distortion_set
        ? [`Contradicting analysis and tool scores for ${title(situation.region)}`]
        : [];
    },
  },
  {
    name: 'a very low score with a slight distortion',
    apply: (situation, random) => {
      if (!situation.evidence.quality_scores) return null;
      setOnly(situation, random.pick(SEEN), 'slight', random.between(1, 1.5));
      return [];
    },
  },
];

t.test('the gaps are right on all generated evidence, and the next plan provides what is missing', async (t) => {
  const random = createChance(2026);
  const counts = new Map<string, number>();
  const wrong: object[] = [];
  for (let drawn = 0; drawn < 900; drawn += 1) {
    const change = CHANGES[drawn % CHANGES.length] as Change;
    const situation = completeSituation(random);
    const expected = change.apply(situation, random);
    if (expected === null) continue;
    counts.set(change.name, (counts.get(change.name) ?? 0) + 1);
    const gaps = findGaps(situation.plan, situation.evidence, situation.scope, registry);
    const texts = gaps.map(formatGap);
    if (texts.toSorted().join() !== expected.toSorted().join()) wrong.push({ change: change.name, texts, expected });
    if (gaps.length > 0) checkNextPlan(t, situation, gaps);
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  t.ok(total >= 500, `${total} evidences`);
  t.equal(counts.size, CHANGES.length, 'of every kind');
  t.ok(
    [...counts.values()].every((count) => count >= 15),
    JSON.stringify(Object.fromEntries(counts)),
  );
  t.strictSame(wrong, []);
});

function checkNextPlan(t: Test, { understood }: Situation, gaps: readonly Gap[]): void {
  const reason = gaps.map(formatGap).join('; ');
  const next = derivePlan(understood, { hasReference: false, replan: { gaps, modelReason: null } }).plan;
  const first = derivePlan(understood, { hasReference: false }).plan;
  const has = (kind: Gap['kind']): boolean => gaps.some((gap) => gap.kind === kind);
  if (has('missing_scores')) t.ok(next.tool_execution && next.tool_selection, `tools are run next: ${reason}`);
  if (has('missing_analysis')) t.ok(next.distortion_analysis, `analysed next: ${reason}`);
  if (has('missing_distortions')) t.ok(next.distortion_detection, `detected next: ${reason}`);
  else t.equal(next.distortion_detection, first.distortion_detection, `what was named stays named: ${reason}`);
  if (has('contradicted_tool'))
    t.ok(next.tool_execution && next.tool_selection && next.distortion_analysis, 'other tools are run');
}

const QUESTIONS = [
  'How is the overall quality of this image?',
  'Is it blurry?',
  'Is the vehicle sharp?',
  'What is wrong with the dog?',
  'Which flaw is worst? A. Blur B. Noise C. Too dark',
  'Use BRISQUE to rate it.',
  'Is the vehicle noisy and the dog blurry?',
  'Does it have a colour cast?',
  'How strong is the noise?',
  'What mood does it convey?',
  'fnord blargh',
];

t.test(
  'a complete first round never replans, whatever is measured, while nothing is missing or contradicts',
  async (t) => {
    const random = createChance(11);
    const rules = loadSeverityRules(projectRoot());
    const lexicon = loadLexicon(`${projectRoot()}/configs/lexicon.yaml`);
    const reasoner = createEmbeddedReasoner({ parser: createQueryParser({ lexicon, tools: registry.rows }), rules });
    const indicators = [...rules.categories.values()].flatMap((category) => category.indicators);
    const middling = Object.fromEntries(registry.rows.map((row) => [row.name, valueFor(row.name)]));
    for (let round = 0; round < 5; round += 1) {
      for (const query of QUESTIONS) {
        const values = Object.fromEntries(
          indicators.map(({ measurement, clean: [low = 0, high = 0], cuts }) => [
            measurement,
            random.chance(0.5) ? (low + high) / 2 : random.pick(cuts),
          ]),
        );
        const regions = random
          .some(['vehicle', 'dog'], random.below(3))
          .map((name) => ({ name, box: [0, 0, 250, 250] }));
        const evidence = {
          ...scriptEvidence(middling),
          measure: async (wanted: readonly { name: string }[]) =>
            new Map(wanted.map(({ name }) => [name, { values, reference: null }])),
        };
        const { state } = await runGraph(t, { script: {}, evidence, input: { query }, context: { reasoner, regions } });
        t.equal(state.iteration_count, 0, `${query} ${JSON.stringify(regions)} ${state.replan_history?.join() ?? ''}`);
        t.equal(state.summarizer_result?.need_replan, false);
      }
    }
  },
);

/** A value of the tool that is calibrated to about 3 (fair), so that no finding can contradict it. */
function valueFor(name: string): number {
  const row = registry.find(name);
  if (!row) return 0;
  const [low = 0, high = 0] = row.range;
  const steps = Array.from({ length: 2_001 }, (_, step) => low + (step / 2_000) * (high - low));
  return (
    steps.toSorted(
      (a, b) => Math.abs(calibrate(a, row.calibration).score - 3) - Math.abs(calibrate(b, row.calibration).score - 3),
    )[0] ?? low
  );
}
