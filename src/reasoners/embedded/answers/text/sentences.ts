// Sentences from evidence: they quote numbers and never say more than those do.
import type { QualityScore } from '../../../../../schemas/responses/assessment.ts';
import type { ExecutorOutput } from '../../../../../schemas/pipeline/executor.ts';
import type { PlannerOutput } from '../../../../../schemas/pipeline/planner.ts';
import { meansByTool } from '../../../../pipeline/rules/fusion.ts';
import { findFailure } from '../../../../pipeline/nodes/tool-execution.ts';
import type { Summary } from '../../../reasoner.ts';
import { effectOf, remedyOf } from './advice.ts';
import type { Judged } from '../../findings/ranking.ts';
import { asSentence, list, lowerFirst, nameFinding, nameWithPlace, upperFirst } from './names.ts';
import type { SeverityRules } from '../../findings/severity-rules.ts';
import type { Understanding } from '../../query/parse-query.ts';
import { UNDECIDED } from '../yes-no.ts';

const MAX_FINDINGS = 3;

export function tellScore(score: QualityScore | null, evidence: ExecutorOutput): string | null {
  if (!score) return null;
  const origin = [...quoteInterval(score), ...(quoteTools(evidence).length > 0 ? [list(quoteTools(evidence))] : [])];
  return `The quality is ${score.level.toLowerCase()}, ${quote(score.value)} of 5${origin.length > 0 ? ` (${origin.join('; ')})` : ''}.`;
}

/** Two digits, never rounded up: 2.499 is poor, but "2.50" would read as fair. */
export const quote = (value: number): string => (Math.floor(value * 100 + 1e-9) / 100).toFixed(2);

/** Rounded outwards, so that it holds at least what it promises. */
function quoteInterval({ interval, value }: QualityScore): string[] {
  const [low, high] = interval ?? [];
  if (low === undefined || high === undefined || value < low || value > high) return [];
  return [`80 % interval ${(Math.floor(low * 10) / 10).toFixed(1)} to ${(Math.ceil(high * 10) / 10).toFixed(1)}`];
}

/** Each lead tool once: its own value and what that counts as; over several objects the mean. */
function quoteTools(evidence: ExecutorOutput): string[] {
  return [...meansByTool(evidence)].map(([tool, score]) => {
    const raw = new Set(
      evidence.tool_logs.filter((log) => log.tool_name === tool).flatMap((log) => log.raw_score ?? []),
    );
    const [own] = raw;
    return raw.size === 1 && own !== undefined
      ? `${tool} of ${Number(own.toPrecision(4))} counts as ${score.toFixed(1)}`
      : `${tool} ${score.toFixed(1)} on average`;
  });
}

/** A tool that was wanted and could not be run is told, with who answered for it. */
export function tellFailures({ tool_logs }: ExecutorOutput): string | null {
  const failure = findFailure(tool_logs);
  if (!failure) return null;
  const { failed, instead } = failure;
  return `${failed.tool_name} gave no value (${failed.error ?? ''})${instead ? `; ${instead.tool_name} answered in its place` : ''}.`;
}

/** No-reference tools hardly react to brightness, contrast and colour: a good score beside a severe finding must not pass for praise. */
export function tellDoubt(
  score: QualityScore | null,
  judged: readonly Judged[],
  rules: SeverityRules,
  asked: boolean,
): string | null {
  const worst = judged[0];
  if (!score || !worst) return null;
  // The other way round: a low score beside nothing to show for it.
  if (worst.rank === 0 && score.value < 2.5)
    return asked
      ? 'Something that was not asked about lowers the score.'
      : 'What lowers the score is none of the distortions that were measured.';
  if (worst.rank < 3 || score.value < 3.5) return null;
  return `The score does not reflect the ${nameFinding(worst, rules)}: trust the measurement.`;
}

export interface Telling {
  /** Only what the question names was looked at, so that nothing is said of the rest. */
  asked: boolean;
  /** Whether it is an explanation: then what it does to the picture and what would help is told as well. */
  explains: boolean;
}

export function tellFindings(
  judged: readonly Judged[],
  rules: SeverityRules,
  { asked, explains }: Telling,
): string | null {
  const visible = judged.filter((item) => item.rank > 0).slice(0, MAX_FINDINGS);
  if (judged.length === 0) return null;
  if (visible.length === 0) {
    const opening = asked ? 'Nothing of what was asked about stands out.' : 'No distortion stands out.';
    return [opening, ...new Set(judged.slice(0, MAX_FINDINGS).map((item) => asSentence(item.explanation)))].join(' ');
  }
  const told = new Set<string | null>();
  const sentences = visible.flatMap((item, index) => {
    const effect = explains ? effectOf(item) : null;
    const isNew = !told.has(effect);
    told.add(effect);
    const remedy = explains && index === 0 ? remedyOf(item) : null;
    return [
      `${upperFirst(nameWithPlace(item, rules))}: ${lowerFirst(asSentence(item.explanation))}`,
      ...(isNew ? [effect] : []),
      remedy,
    ];
  });
  return sentences.filter((sentence) => sentence !== null).join(' ');
}

export function tellScope(ungrounded: readonly string[]): string | null {
  return ungrounded.length === 0
    ? null
    : `No box was given for ${list(ungrounded)}, so this is about the whole picture.`;
}

/** Who wants a comparison with an original and sent none is told so; "which of the two" may speak of other pictures. */
export function tellMissingReference(
  { comparesWithReference }: Understanding,
  query: string,
  { reference_mode }: PlannerOutput,
): string | null {
  const speaksOfIt = comparesWithReference && /\b(reference|original|source|pristine|ground.?truth)\b/i.test(query);
  return speaksOfIt && reference_mode === 'No-Reference'
    ? 'No reference was given, so nothing was compared with one.'
    : null;
}

export function tellGaps(gaps: readonly string[]): string | null {
  return gaps.length === 0 ? null : `The evidence is incomplete: ${gaps.join('; ')}.`;
}

/** Questions about content, mood or taste: measurements cannot answer them, and say what they could. */
export function declineOther(): Summary {
  return {
    score: null,
    output: {
      final_answer: UNDECIDED,
      quality_reasoning:
        'This asks about what the picture shows or how it feels, not about its technical quality. Answering it needs a vision-language model, ' +
        'and this answer was made without one. Measurements can speak of blur, sharpness, noise, compression, brightness, contrast and colour: ' +
        '"How is the overall quality of this image?" or "Is it sharp?" would be answered.',
      need_replan: false,
      replan_reason: null,
      used_evidence: null,
    },
  };
}
