// Writes the sentences of an answer. The first one of each group is free of technical terms; measured values follow it.
import type { QualityScore } from '../../../../../schemas/responses/assessment.ts';
import type { ExecutorOutput } from '../../../../../schemas/pipeline/executor.ts';
import type { PlannerOutput } from '../../../../../schemas/pipeline/planner.ts';
import { findToolFailure } from '../../../../pipeline/rules/tool-failure.ts';
import { meansByTool } from '../../../../pipeline/rules/fusion.ts';
import { formatGap, type Gap } from '../../../../pipeline/rules/gaps.ts';
import { formatUngrounded } from '../../../../pipeline/rules/scope.ts';
import type { RankedFinding } from '../../findings/ranking.ts';
import type { SeverityRules } from '../../findings/severity-rules.ts';
import type { ParsedQuery } from '../../query/parse-query.ts';
import { describeEffect, describeRemedy } from './advice.ts';
import { asSentence, joinWords, nameDistortion, nameFinding, nameWithPlace, upperFirst } from './names.ts';

const MAX_FINDINGS = 3;

export function scoreSentence(score: QualityScore | null, evidence: ExecutorOutput): string | null {
  if (!score) return null;
  const tools = formatTools(evidence);
  const interval = formatInterval(score);
  const origin = [
    ...(tools.length > 0 ? [`the score comes from ${joinWords(tools)}`] : []),
    ...(interval === null ? [] : [`its 80 % interval is ${interval}`]),
  ].join('; ');
  return `The quality is ${score.level.toLowerCase()}: ${formatScore(score.value)} out of 5.${origin ? ` ${upperFirst(origin)}.` : ''}`;
}

/** Two digits. The sum keeps 2.675, which is 2.67499… in binary, from being rounded down. */
export const formatScore = (value: number): string => (Math.round(value * 100 + 1e-9) / 100).toFixed(2);

function formatInterval({ interval, value }: QualityScore): string | null {
  const [low, high] = interval ?? [];
  if (low === undefined || high === undefined || value < low || value > high) return null;
  return `${formatScore(low)} to ${formatScore(high)}`;
}

/** Each lead tool once: its own value and the score that it corresponds to; over several objects the mean score. */
function formatTools(evidence: ExecutorOutput): string[] {
  return [...meansByTool(evidence)].map(([tool, score]) => {
    const raw = new Set(
      evidence.tool_logs.filter((log) => log.tool_name === tool).flatMap((log) => log.raw_score ?? []),
    );
    const [own] = raw;
    const shown = formatScore(score);
    if (raw.size !== 1 || own === undefined) return `${tool} (${shown} on average)`;
    // Some tools rate on the same scale of 1 to 5.
    return formatScore(own) === shown
      ? `${tool} (${shown})`
      : `${tool} (${Number(own.toPrecision(4))}, which corresponds to ${shown})`;
  });
}

export function toolFailureSentence({ tool_logs }: ExecutorOutput): string | null {
  const failure = findToolFailure(tool_logs);
  if (!failure) return null;
  const { failed, replacement } = failure;
  return `${failed.tool_name} failed (${failed.error ?? ''})${replacement ? `; ${replacement.tool_name} was used instead` : ''}.`;
}

/**
 * Says where score and findings contradict each other. No-reference tools hardly react to brightness, contrast and colour, so a good
 * score beside a severe finding must not be read as praise.
 */
export function doubtSentence(
  score: QualityScore | null,
  findings: readonly RankedFinding[],
  rules: SeverityRules,
  onlyNamed: boolean,
): string | null {
  const worst = findings[0];
  if (!score || !worst) return null;
  if (worst.rank === 0 && score.value < 2.5)
    return onlyNamed
      ? 'Something that the question did not ask about lowers the score.'
      : 'None of the measured distortions explains the low score.';
  if (worst.rank < 3 || score.value < 3.5) return null;
  return `The score does not reflect the ${nameFinding(worst, rules)}; rely on the measurement instead.`;
}

interface FindingsTextOptions {
  /** Only the distortions that the question names were examined, so the text makes no claim about others. */
  onlyNamed: boolean;
  /** Whether the text also says what the distortions do to the image and what would help. */
  withAdvice: boolean;
}

export function findingsText(
  findings: readonly RankedFinding[],
  rules: SeverityRules,
  { onlyNamed, withAdvice }: FindingsTextOptions,
): string | null {
  if (findings.length === 0) return null;
  const visible = findings.filter((item) => item.rank > 0).slice(0, MAX_FINDINGS);
  if (visible.length === 0) {
    const examined = findings.slice(0, MAX_FINDINGS);
    const nouns = new Set(examined.map((item) => nameDistortion(item, rules)));
    const opening = onlyNamed ? `No visible ${joinWords([...nouns], 'or')}.` : 'No flaw stands out.';
    return [opening, ...new Set(examined.map((item) => asSentence(item.explanation)))].join(' ');
  }
  const effects = visible.map((item) => (withAdvice ? describeEffect(item) : null));
  return visible
    .flatMap((item, index) => {
      const effect = effects[index] ?? null;
      const isRepeated = effects.indexOf(effect) < index;
      const remedy = withAdvice && index === 0 ? describeRemedy(item) : null;
      return [
        `${upperFirst(nameWithPlace(item, rules))}${effect === null || isRepeated ? '' : `: ${effect}`}.`,
        upperFirst(asSentence(item.explanation)),
        ...(remedy === null ? [] : [`${remedy}.`]),
      ];
    })
    .join(' ');
}

export function scopeSentence(ungrounded: readonly string[]): string | null {
  return ungrounded.length === 0 ? null : formatUngrounded(ungrounded);
}

/** "Which of the two is better?" is left out: it may mean images that were not sent. */
export function missingReferenceSentence(
  { comparesWithReference }: ParsedQuery,
  query: string,
  { reference_mode }: PlannerOutput,
): string | null {
  const namesReference = comparesWithReference && /\b(reference|original|source|pristine|ground.?truth)\b/i.test(query);
  return namesReference && reference_mode === 'No-Reference'
    ? 'No reference image was given, so nothing could be compared with it.'
    : null;
}

export function gapsSentence(gaps: readonly Gap[]): string | null {
  return gaps.length === 0 ? null : `The evidence is incomplete: ${gaps.map(formatGap).join('; ')}.`;
}

/** For questions about content, mood or taste. */
export const OFF_TOPIC_TEXT =
  'This question is about what the image shows or how it feels, not about its technical quality. It needs a vision-language model, and ' +
  'this answer was made without one. You can ask about blur, sharpness, noise, compression, brightness, contrast and colour instead, ' +
  'for example "How is the overall quality of this image?" or "Is it sharp?".';
