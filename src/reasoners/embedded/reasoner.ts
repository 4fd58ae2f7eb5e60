// The embedded reasoner: no model, no network. Plans with a lexicon, sees with measurements, answers from the evidence.
import type { Finding } from '../../../schemas/responses/assessment.ts';
import type { ToolRow } from '../../../schemas/tool.ts';
import type { DistortionCategory } from '../../../schemas/vocabulary.ts';
import { getOwn } from '../../lib/get-own.ts';
import { derivePlan } from '../../pipeline/rules/plan.ts';
import { rankTools, type ToolRegistry } from '../../tools/registry.ts';
import {
  NO_USAGE,
  type Examination,
  type ExamineRequest,
  type PlanProposal,
  type PlanRequest,
  type Reasoner,
} from '../reasoner.ts';
import { answer, tellsPlace } from './answers/answer.ts';
import { gradeRegion, type Grade } from './findings/grading.ts';
import type { Lexicon } from './query/lexicon.ts';
import type { SeverityRules } from './findings/severity-rules.ts';
import { understandQuery, type Vocabulary } from './query/parse-query.ts';

export interface EmbeddedOptions {
  lexicon: Lexicon;
  rules: SeverityRules;
  registry: ToolRegistry;
}

const RULES_VERSION = '1.3.0';

export function createEmbeddedReasoner({ lexicon, rules, registry }: EmbeddedOptions): Reasoner {
  const vocabulary: Vocabulary = { lexicon, tools: registry.rows };
  return {
    identity: { kind: 'embedded', backend: 'embedded', model: null },
    version: `${RULES_VERSION}+severity.${rules.version}`,
    seesPixels: false,
    speculates: true,
    locates: (query, choices) => tellsPlace(understandQuery(query, vocabulary, choices), query),
    thinkingMs: 0,
    plan: (request) => Promise.resolve(plan(request, vocabulary)),
    examine: (request) => examine(request, rules),
    summarize: (request) => Promise.resolve(answer(request, vocabulary, rules)),
    report: () => ({ usage: NO_USAGE, degraded: null }),
  };
}

function plan({ input, choices, replan }: PlanRequest, vocabulary: Vocabulary): PlanProposal {
  const understood = understandQuery(input.query, vocabulary, choices);
  return {
    output: derivePlan(understood, { hasReference: input.reference_path !== null, replan }),
    confidence: understood.confidence,
  };
}

async function examine(request: ExamineRequest, rules: SeverityRules): Promise<Examination> {
  const {
    plan: { plan: flags },
    named,
  } = request;
  const examination: Examination = {
    distortion_set: null,
    distortion_analysis: null,
    selected_tools: null,
    findings: [],
    grounded: [],
    failures: [],
  };
  const attempt = <T>(subtask: string, work: () => T): T | null => {
    try {
      return work();
    } catch (error) {
      examination.failures.push({ subtask, error });
      return null;
    }
  };
  const grades = await gradeAll(request, rules)
    .then((all) => (named ? widen(all, named, rules) : all))
    .catch((error: unknown) => {
      examination.failures.push({ subtask: 'measurements', error });
      return null;
    });
  if (flags.distortion_detection && grades)
    examination.distortion_set = attempt('distortion_detection', () => detect(grades));
  const set = examination.distortion_set ?? named;
  if (flags.distortion_analysis && grades && set) {
    examination.distortion_analysis = attempt('distortion_analysis', () => analyse(set, grades));
    examination.findings = findingsOf(set, grades);
  }
  if (flags.tool_selection && set) examination.selected_tools = attempt('tool_selection', () => select(set, request));
  return examination;
}

type Grades = Map<string, Grade[]>;
type DistortionSet = Record<string, DistortionCategory[]>;

async function gradeAll({ regions, measurements }: ExamineRequest, rules: SeverityRules): Promise<Grades> {
  const measured = await measurements();
  return new Map(
    regions.flatMap(({ name }) => {
      const values = measured.get(name);
      return values ? [[name, gradeRegion(name, values, rules)]] : [];
    }),
  );
}

/** A category that the question names is graded by all that the question is about: no sharpness means too much of it, or blur. */
function widen(grades: Grades, named: DistortionSet, rules: SeverityRules): Grades {
  return new Map(
    [...grades].map(([object, ranked]) => [
      object,
      ranked.map((grade) => {
        const also = getOwn(named, object)?.includes(grade.distortion)
          ? (rules.categories.get(grade.distortion)?.when_named ?? [])
          : [];
        // Ranked strongest first: the first of them is the worst.
        const worst =
          ranked.find(({ distortion }) => distortion === grade.distortion || also.includes(distortion)) ?? grade;
        // What was measured of its own sides stays: a blurred picture is still not over-sharpened.
        return { ...worst, distortion: grade.distortion, sides: { ...grade.sides, ...worst.sides } };
      }),
    ]),
  );
}

/** Everything that shows; on a clean picture the likeliest, so that there is something to look at. */
function detect(grades: Grades): DistortionSet {
  return Object.fromEntries(
    [...grades].map(([object, ranked]) => {
      const visible = ranked.filter((grade) => grade.severity !== 'none');
      return [object, (visible.length > 0 ? visible : ranked.slice(0, 1)).map((grade) => grade.distortion)];
    }),
  );
}

function analyse(set: DistortionSet, grades: Grades): NonNullable<Examination['distortion_analysis']> {
  return Object.fromEntries(
    Object.keys(set).map((object) => [
      object,
      gradesIn(set, grades, object).map(({ distortion, severity, explanation }) => ({
        type: distortion,
        severity,
        explanation,
      })),
    ]),
  );
}

function findingsOf(set: DistortionSet, grades: Grades): Finding[] {
  return Object.keys(set)
    .flatMap((object) => gradesIn(set, grades, object))
    .toSorted((a, b) => b.strength - a.strength)
    .map(({ explanation, ...finding }) => finding);
}

function gradesIn(set: DistortionSet, grades: Grades, object: string): Grade[] {
  const ranked = grades.get(object) ?? [];
  return (getOwn(set, object) ?? []).flatMap((category) => ranked.find((grade) => grade.distortion === category) ?? []);
}

function select(
  set: DistortionSet,
  { tools, hasReference, doubted, regions, shorterSide }: ExamineRequest,
): NonNullable<Examination['selected_tools']> {
  const choose = (object: string, category: DistortionCategory): ToolRow | undefined => {
    const region = regions.find(({ name }) => name === object);
    const ranked = rankTools(tools, category, hasReference, region && shorterSide(region));
    return ranked.find((tool) => !doubted.has(tool.name)) ?? ranked[0];
  };
  return Object.fromEntries(
    Object.entries(set).map(([object, categories]) => [
      object,
      Object.fromEntries(
        categories.flatMap((category) => {
          const tool = choose(object, category);
          return tool ? [[category, tool.name]] : [];
        }),
      ),
    ]),
  );
}
