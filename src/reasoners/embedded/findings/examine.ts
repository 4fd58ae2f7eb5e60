// The executor's first three subtasks without a model: detects distortions, analyses them and selects tools.
import type { Finding } from '../../../../schemas/responses/assessment.ts';
import type { ToolRow } from '../../../../schemas/tool.ts';
import type { DistortionCategory } from '../../../../schemas/vocabulary.ts';
import { getOwn } from '../../../lib/get-own.ts';
import { rankTools } from '../../../tools/registry.ts';
import type { Examination, ExamineRequest } from '../../reasoner.ts';
import { gradeRegion, type Grade } from './grading.ts';
import type { SeverityRules } from './severity-rules.ts';

/** Grades by region name, strongest first. */
type Grades = Map<string, Grade[]>;
type DistortionSet = Record<string, DistortionCategory[]>;

export async function examine(request: ExamineRequest, rules: SeverityRules): Promise<Examination> {
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
  const grades = await gradeRegions(request, rules)
    .then((all) => (named ? mergeRelatedCategories(all, named, rules) : all))
    .catch((error: unknown) => {
      examination.failures.push({ subtask: 'measurements', error });
      return null;
    });
  if (flags.distortion_detection && grades)
    examination.distortion_set = attempt('distortion_detection', () => detectDistortions(grades));
  const set = examination.distortion_set ?? named;
  if (flags.distortion_analysis && grades && set) {
    examination.distortion_analysis = attempt('distortion_analysis', () => analyseDistortions(set, grades));
    examination.findings = listFindings(set, grades);
  }
  if (flags.tool_selection && set)
    examination.selected_tools = attempt('tool_selection', () => selectTools(set, request));
  return examination;
}

async function gradeRegions({ regions, measurements }: ExamineRequest, rules: SeverityRules): Promise<Grades> {
  const measured = await measurements();
  return new Map(
    regions.flatMap(({ name }) => {
      const values = measured.get(name);
      return values ? [[name, gradeRegion(name, values, rules)]] : [];
    }),
  );
}

/** A named category takes the worst grade among those that the question also means: low sharpness is over-sharpening or blur. */
function mergeRelatedCategories(grades: Grades, named: DistortionSet, rules: SeverityRules): Grades {
  return new Map(
    [...grades].map(([object, ranked]) => [
      object,
      ranked.map((grade) => {
        const related = getOwn(named, object)?.includes(grade.distortion)
          ? (rules.categories.get(grade.distortion)?.when_named ?? [])
          : [];
        const worst =
          ranked.find(({ distortion }) => distortion === grade.distortion || related.includes(distortion)) ?? grade;
        // Its own variants stay: a blurred image is still not over-sharpened.
        return { ...worst, distortion: grade.distortion, variants: { ...grade.variants, ...worst.variants } };
      }),
    ]),
  );
}

/** All visible distortions; on a clean image the strongest one, so that there is something to analyse. */
function detectDistortions(grades: Grades): DistortionSet {
  return Object.fromEntries(
    [...grades].map(([object, ranked]) => {
      const visible = ranked.filter((grade) => grade.severity !== 'none');
      return [object, (visible.length > 0 ? visible : ranked.slice(0, 1)).map((grade) => grade.distortion)];
    }),
  );
}

function analyseDistortions(set: DistortionSet, grades: Grades): NonNullable<Examination['distortion_analysis']> {
  return Object.fromEntries(
    Object.keys(set).map((object) => [
      object,
      listGrades(set, grades, object).map(({ distortion, severity, explanation }) => ({
        type: distortion,
        severity,
        explanation,
      })),
    ]),
  );
}

function listFindings(set: DistortionSet, grades: Grades): Finding[] {
  return Object.keys(set)
    .flatMap((object) => listGrades(set, grades, object))
    .toSorted((a, b) => b.strength - a.strength)
    .map(({ explanation, ...finding }) => finding);
}

function listGrades(set: DistortionSet, grades: Grades, object: string): Grade[] {
  const ranked = grades.get(object) ?? [];
  return (getOwn(set, object) ?? []).flatMap((category) => ranked.find((grade) => grade.distortion === category) ?? []);
}

function selectTools(
  set: DistortionSet,
  { tools, hasReference, contradictedTools, regions, shorterSide }: ExamineRequest,
): NonNullable<Examination['selected_tools']> {
  const choose = (object: string, category: DistortionCategory): ToolRow | undefined => {
    const region = regions.find(({ name }) => name === object);
    const ranked = rankTools(tools, category, hasReference, region && shorterSide(region));
    return ranked.find((tool) => !contradictedTools.has(tool.name)) ?? ranked[0];
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
