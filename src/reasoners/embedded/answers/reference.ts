// Answers yes/no comparisons with the reference: "Is it sharper than the original?", "Is the original brighter?".
import type { RankedFinding } from '../findings/ranking.ts';
import type { SeverityRules } from '../findings/severity-rules.ts';
import type { ParsedQuery } from '../query/parse-query.ts';
import { nameFinding } from './text/names.ts';
import type { Verdict } from './verdict.ts';

const COMPARATIVE = /\b(?:more|less|\w+er)\b.*\bthan\b/i;
const REFERENCE_FIRST =
  /^\W*(?:is|are|was|were|does|did|has|have|had)\s+(?:the\s+)?(?:original|reference|source|pristine)\b/i;
const MORE_LIGHT = /\b(?:brighter|lighter)\b/i;
const LESS_LIGHT = /\b(?:darker|dimmer)\b/i;

/**
 * With a reference, findings are changes from it. Tools see losses but not gains, so "is it better?" is denied where nothing has
 * changed. Brightness is the exception: its two variants say in which direction it changed.
 */
export function answerReferenceComparison(
  parsed: ParsedQuery,
  worst: RankedFinding,
  { query, rules }: { query: string; rules: SeverityRules },
): Verdict | null {
  if (!parsed.comparesWithReference || parsed.distortions === null || !COMPARATIVE.test(query)) return null;
  const isReversed = REFERENCE_FIRST.test(query);
  if (worst.type === 'Brightness change' && (MORE_LIGHT.test(query) || LESS_LIGHT.test(query)))
    return answerBrightnessComparison(worst, MORE_LIGHT.test(query) !== isReversed, rules);
  if (worst.rank === 0) return UNCHANGED;
  // "Is it blurrier?" and "is the original sharper?" are both confirmed by blur.
  const isConfirmed = (parsed.polarity === 'asks_for_flaw') !== isReversed;
  return {
    answer: `${isConfirmed ? (worst.rank > 1 ? 'Yes' : 'Slightly') : 'No'}: ${nameFinding(worst, rules)}`,
    reason: null,
  };
}

const UNCHANGED: Verdict = { answer: 'No: no visible difference', reason: null };

function answerBrightnessComparison(worst: RankedFinding, asksForMore: boolean, rules: SeverityRules): Verdict | null {
  if (worst.rank === 0) return UNCHANGED;
  if (worst.variant === null) return null;
  return {
    answer: `${(worst.variant === 'overexposure') === asksForMore ? 'Yes' : 'No'}: ${nameFinding(worst, rules)}`,
    reason: null,
  };
}
