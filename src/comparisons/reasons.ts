// Why one picture is worse than another, in words that quote what was found in both: findings first, then what the tools say.
import type { Assessment, Finding } from '../../schemas/responses/assessment.ts';
import { GLOBAL, SEVERITIES } from '../../schemas/vocabulary.ts';

export interface Compared {
  /** Its number in the request, from 1. */
  picture: number;
  assessment: Assessment;
}

/** Of each direction: what is worse in the second, what is worse in the first. */
const MAX_REASONS = 3;

export function findReasons(first: Compared, second: Compared): string[] {
  if (first.assessment.image.sha256 === second.assessment.image.sha256) return ['The two files are the same.'];
  return [
    ...tellWorse(first, second),
    ...tellWorse(second, first).map((sentence) => `On the other hand, ${lowerFirst(sentence)}`),
    ...tellTools(first, second),
  ];
}

/** What shows more in the second than in the first, largest step first. */
function tellWorse(first: Compared, second: Compared): string[] {
  return second.assessment.diagnostics.findings
    .map((finding) => ({ finding, other: findSame(first, finding) }))
    .map(({ finding, other }) => ({ finding, other, step: rankOf(finding) - (other ? rankOf(other) : 0) }))
    .filter(({ step }) => step > 0)
    .toSorted((a, b) => b.step - a.step)
    .slice(0, MAX_REASONS)
    .map(({ finding, other }) => {
      const where = finding.object_name === GLOBAL ? '' : ` of ${finding.object_name}`;
      const beside = other
        ? `${other.severity} in picture ${first.picture}`
        : `not noticed in picture ${first.picture}`;
      return [
        `${finding.distortion}${where}: ${finding.severity} in picture ${second.picture}, ${beside}.`,
        explanationOf(second, finding),
        quoteValues(finding, other, first.picture),
      ]
        .filter((part) => part !== '')
        .join(' ');
    });
}

const findSame = ({ assessment }: Compared, { object_name: object, distortion }: Finding): Finding | undefined =>
  assessment.diagnostics.findings.find(
    (finding) => finding.object_name === object && finding.distortion === distortion,
  );

const rankOf = ({ severity }: Finding): number => SEVERITIES.indexOf(severity);

/** The reasoner's own sentence, which quotes the evidence. */
function explanationOf({ assessment }: Compared, { object_name: object, distortion }: Finding): string {
  const analyses = assessment.executor_evidence?.distortion_analysis?.[object] ?? [];
  return analyses.find(({ type }) => type === distortion)?.explanation ?? '';
}

/** The other picture's values of the same measurements, where they differ. */
function quoteValues(finding: Finding, other: Finding | undefined, picture: number): string {
  const values = Object.entries(finding.measurements).flatMap(([name, value]) => {
    const beside = other?.measurements[name] ?? null;
    return value === null || beside === null || beside === value
      ? []
      : [`${name} ${short(value)} against ${short(beside)}`];
  });
  return values.length === 0 ? '' : `Measured beside picture ${picture}: ${values.join(', ')}.`;
}

/** What the same tool says of both; scores of different tools are not set beside each other without saying so. */
function tellTools(first: Compared, second: Compared): string[] {
  const [here, there] = [toolsOf(first), toolsOf(second)];
  const shared = [...here].flatMap(([name, value]) => {
    const other = there.get(name);
    return other
      ? [
          `${name} counts picture ${first.picture} as ${value.score.toFixed(1)} (${short(value.raw)}) and picture ${second.picture} as ${other.score.toFixed(1)} (${short(other.raw)})`,
        ]
      : [];
  });
  if (shared.length > 0) return [`${shared.join('; ')}.`];
  if (here.size === 0 || there.size === 0) return [];
  return [
    `The scores rest on different tools: ${[...here.keys()].join(', ')} for picture ${first.picture}, ${[...there.keys()].join(', ')} for picture ${second.picture}.`,
  ];
}

function toolsOf({ assessment }: Compared): Map<string, { score: number; raw: number }> {
  return new Map(
    assessment.diagnostics.tools.flatMap(
      ({ tool_name: name, object_name: object, normalized_score: score, raw_score: raw }) =>
        object === GLOBAL && score !== null && raw !== null ? [[name, { score, raw }]] : [],
    ),
  );
}

const short = (value: number): string => String(Number(value.toPrecision(3)));
const lowerFirst = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
