// Explains why one image is worse than another: differences of the findings first, then the tool scores of both.
import type { Assessment, Finding } from '../../schemas/responses/assessment.ts';
import { GLOBAL, SEVERITIES } from '../../schemas/vocabulary.ts';

export interface ComparedImage {
  /** Its position in the request, from 1. */
  number: number;
  assessment: Assessment;
}

/** For each direction. */
const MAX_REASONS = 3;

export function findReasons(first: ComparedImage, second: ComparedImage): string[] {
  if (first.assessment.image.sha256 === second.assessment.image.sha256) return ['The two files are the same.'];
  return [
    ...explainWorse(first, second),
    ...explainWorse(second, first).map((sentence) => `On the other hand, ${lowerFirst(sentence)}`),
    ...explainToolScores(first, second),
  ];
}

/** The distortions that are more severe in the second image, largest difference first. */
function explainWorse(first: ComparedImage, second: ComparedImage): string[] {
  return second.assessment.diagnostics.findings
    .map((finding) => ({ finding, other: findSameDistortion(first, finding) }))
    .map(({ finding, other }) => ({
      finding,
      other,
      difference: rankSeverity(finding) - (other ? rankSeverity(other) : 0),
    }))
    .filter(({ difference }) => difference > 0)
    .toSorted((a, b) => b.difference - a.difference)
    .slice(0, MAX_REASONS)
    .map(({ finding, other }) => {
      const where = finding.object_name === GLOBAL ? '' : ` of ${finding.object_name}`;
      const inOther = `${other ? other.severity : 'not noticed'} in image ${first.number}`;
      return [
        `${finding.distortion}${where}: ${finding.severity} in image ${second.number}, ${inOther}.`,
        findExplanation(second, finding),
        compareMeasurements(finding, other, first.number),
      ]
        .filter((part) => part !== '')
        .join(' ');
    });
}

const findSameDistortion = (
  { assessment }: ComparedImage,
  { object_name: object, distortion }: Finding,
): Finding | undefined =>
  assessment.diagnostics.findings.find(
    (finding) => finding.object_name === object && finding.distortion === distortion,
  );

const rankSeverity = ({ severity }: Finding): number => SEVERITIES.indexOf(severity);

/** The sentence of the reasoner, which quotes the evidence. */
function findExplanation({ assessment }: ComparedImage, { object_name: object, distortion }: Finding): string {
  const analyses = assessment.executor_evidence?.distortion_analysis?.[object] ?? [];
  return analyses.find(({ type }) => type === distortion)?.explanation ?? '';
}

/** The values of the same measurements in the other image, where they differ. */
function compareMeasurements(finding: Finding, other: Finding | undefined, otherNumber: number): string {
  const values = Object.entries(finding.measurements).flatMap(([name, value]) => {
    const otherValue = other?.measurements[name] ?? null;
    return value === null || otherValue === null || otherValue === value
      ? []
      : [`${name} ${formatValue(value)} against ${formatValue(otherValue)}`];
  });
  return values.length === 0 ? '' : `Compared with image ${otherNumber}: ${values.join(', ')}.`;
}

/** Scores of the same tool for both images; if the images share no tool, it says so instead. */
function explainToolScores(first: ComparedImage, second: ComparedImage): string[] {
  const [firstTools, secondTools] = [collectToolScores(first), collectToolScores(second)];
  const shared = [...firstTools].flatMap(([name, value]) => {
    const other = secondTools.get(name);
    if (!other) return [];
    const describe = ({ number }: ComparedImage, { score, raw }: ToolScore) =>
      `image ${number} as ${score.toFixed(1)} (${formatValue(raw)})`;
    return [`${name} rates ${describe(first, value)} and ${describe(second, other)}`];
  });
  if (shared.length > 0) return [`${shared.join('; ')}.`];
  if (firstTools.size === 0 || secondTools.size === 0) return [];
  const list = (tools: typeof firstTools, { number }: ComparedImage) =>
    `${[...tools.keys()].join(', ')} for image ${number}`;
  return [`The scores rest on different tools: ${list(firstTools, first)}, ${list(secondTools, second)}.`];
}

interface ToolScore {
  score: number;
  raw: number;
}

function collectToolScores({ assessment }: ComparedImage): Map<string, ToolScore> {
  return new Map(
    assessment.diagnostics.tools.flatMap(
      ({ tool_name: name, object_name: object, normalized_score: score, raw_score: raw }) =>
        object === GLOBAL && score !== null && raw !== null ? [[name, { score, raw }]] : [],
    ),
  );
}

const formatValue = (value: number): string => String(Number(value.toPrecision(3)));
const lowerFirst = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
