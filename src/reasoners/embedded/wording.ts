// Sentences from evidence: they quote numbers and never say more than those do.
import type { QualityScore } from '../../../schemas/assessment.ts';
import type { ExecutorOutput } from '../../../schemas/executor.ts';
import { GLOBAL } from '../../../schemas/vocabulary.ts';
import { meansByTool } from '../../pipeline/fusion.ts';
import { findFailure } from '../../pipeline/tool-execution.ts';
import type { Judged } from './judging.ts';
import type { SeverityRules } from './severity-rules.ts';

const MAX_FINDINGS = 3;

export function tellScore(score: QualityScore | null, evidence: ExecutorOutput): string | null {
  if (!score) return null;
  const tools = quoteTools(evidence);
  return `The quality is ${score.level.toLowerCase()}, ${quote(score.value)} of 5${tools.length > 0 ? ` (${list(tools)})` : ''}.`;
}

/** Two digits, never rounded up: 2.499 is poor, but "2.50" would read as fair. */
const quote = (value: number): string => (Math.floor(value * 100) / 100).toFixed(2);

/** Each lead tool once: its own value and what that counts as; over several objects the mean. */
function quoteTools(evidence: ExecutorOutput): string[] {
  return [...meansByTool(evidence)].map(([tool, score]) => {
    const raw = new Set(evidence.tool_logs.filter((log) => log.tool_name === tool).flatMap((log) => log.raw_score ?? []));
    const [own] = raw;
    return raw.size === 1 && own !== undefined ? `${tool} of ${Number(own.toPrecision(4))} counts as ${score.toFixed(1)}` : `${tool} ${score.toFixed(1)} on average`;
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
export function tellDoubt(score: QualityScore | null, judged: readonly Judged[], rules: SeverityRules): string | null {
  const worst = judged[0];
  if (!score || !worst || worst.rank < 3 || score.value < 3.5) return null;
  return `The score does not reflect the ${nameFinding(worst, rules)}: trust the measurement.`;
}

/** `asked`: only what the question names was looked at, so that nothing is said of the rest. */
export function tellFindings(judged: readonly Judged[], rules: SeverityRules, asked: boolean): string | null {
  const visible = judged.filter((item) => item.rank > 0);
  if (judged.length === 0) return null;
  if (visible.length === 0) {
    const opening = asked ? 'Nothing of what was asked about stands out.' : 'No distortion stands out.';
    return [opening, ...judged.slice(0, MAX_FINDINGS).map((item) => item.explanation)].join(' ');
  }
  const sentences = visible.slice(0, MAX_FINDINGS).map((item) => {
    return `${upperFirst(nameFinding(item, rules))}: ${lowerFirst(item.explanation)}`;
  });
  return sentences.join(' ');
}

export function tellScope(ungrounded: readonly string[]): string | null {
  return ungrounded.length === 0 ? null : `No box was given for ${list(ungrounded)}, so this is about the whole picture.`;
}

export function tellGaps(gaps: readonly string[]): string | null {
  return gaps.length === 0 ? null : `The evidence is incomplete: ${gaps.join('; ')}.`;
}

/** "moderate blur", with the object where it is not the whole picture. */
export function nameFinding(item: Judged, rules: SeverityRules): string {
  const { severity, object, instead } = item;
  const other = instead ? `, but ${instead.severity} ${instead.side}` : '';
  return `${severity === 'none' ? 'no visible' : severity} ${nounOf(item, rules)}${object === GLOBAL ? '' : ` on ${object}`}${other}`;
}

/** The side where one is known ("overexposure"), the distortion otherwise ("exposure error"). */
export const nounOf = ({ side, type }: Judged, rules: SeverityRules): string =>
  side ?? rules.categories.get(type)?.name ?? type.toLowerCase();

export function list(items: readonly string[], conjunction = 'and'): string {
  if (items.length < 2) return items.join('');
  return `${items.slice(0, -1).join(', ')} ${conjunction} ${items.at(-1) ?? ''}`;
}

export const upperFirst = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
export const lowerFirst = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
