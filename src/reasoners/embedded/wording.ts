// Sentences from evidence: they quote numbers and never say more than those do.
import type { QualityScore } from '../../../schemas/assessment.ts';
import type { ExecutorOutput } from '../../../schemas/executor.ts';
import { GLOBAL } from '../../../schemas/vocabulary.ts';
import type { Judged } from './answers.ts';
import type { SeverityRules } from './severity-rules.ts';

const MAX_FINDINGS = 3;

export function tellScore(score: QualityScore | null, evidence: ExecutorOutput): string | null {
  if (!score) return null;
  const tools = new Map(Object.values(evidence.quality_scores ?? {}).flatMap((scores) => Object.values(scores)));
  const from = [...tools].map(([tool, value]) => `${tool} ${value.toFixed(1)}`);
  // Two digits: 3.48 is fair, but "3.5" would read as good.
  return `The quality is ${score.level.toLowerCase()}, ${score.value.toFixed(2)} of 5${from.length > 0 ? ` (${list(from)})` : ''}.`;
}

export function tellFindings(judged: readonly Judged[], rules: SeverityRules): string | null {
  const visible = judged.filter((item) => item.rank > 0);
  if (judged.length === 0) return null;
  if (visible.length === 0) return `No distortion stands out; looked at: ${judged.slice(0, MAX_FINDINGS).map((item) => lowerFirst(item.explanation)).join(' ')}`;
  const sentences = visible.slice(0, MAX_FINDINGS).map((item) => {
    const finding = nameFinding(item, rules);
    return `${finding.charAt(0).toUpperCase()}${finding.slice(1)}: ${lowerFirst(item.explanation)}`;
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
export function nameFinding({ type, severity, object }: Judged, rules: SeverityRules): string {
  const noun = rules.categories.get(type)?.name ?? type.toLowerCase();
  return `${severity === 'none' ? 'no visible' : severity} ${noun}${object === GLOBAL ? '' : ` on ${object}`}`;
}

export function list(items: readonly string[], conjunction = 'and'): string {
  if (items.length < 2) return items.join('');
  return `${items.slice(0, -1).join(', ')} ${conjunction} ${items.at(-1) ?? ''}`;
}

const lowerFirst = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
