// Yes or no to a comparison with the reference: "Is it sharper than the original?", "Is the original brighter?".
import type { Judged } from '../findings/ranking.ts';
import { nameFinding } from './text/names.ts';
import type { Understanding } from '../query/parse-query.ts';
import type { Grounds, Verdict } from './yes-no.ts';

const COMPARATIVE = /\b(?:more|less|\w+er)\b.*\bthan\b/i;
const REFERENCE_FIRST =
  /^\W*(?:is|are|was|were|does|did|has|have|had)\s+(?:the\s+)?(?:original|reference|source|pristine)\b/i;
const MORE_LIGHT = /\b(?:brighter|lighter)\b/i;
const LESS_LIGHT = /\b(?:darker|dimmer)\b/i;

/**
 * With a reference findings are changes from it. A loss is seen, a gain is not: what praises the picture above its reference is denied where nothing
 * has changed. Light is the exception, since its two sides are told apart.
 */
export function againstReference(understood: Understanding, worst: Judged, { query, rules }: Grounds): Verdict | null {
  if (!understood.comparesWithReference || understood.distortions === null || !COMPARATIVE.test(query)) return null;
  const isReversed = REFERENCE_FIRST.test(query);
  if (worst.type === 'Brightness change' && (MORE_LIGHT.test(query) || LESS_LIGHT.test(query)))
    return ofLight(worst, MORE_LIGHT.test(query) !== isReversed, rules);
  if (worst.rank === 0) return UNCHANGED;
  // "Is it blurrier?" and "is the original sharper?" are both confirmed by blur.
  const isConfirmed = (understood.polarity === 'asks_for_flaw') !== isReversed;
  return {
    answer: `${isConfirmed ? (worst.rank > 1 ? 'Yes' : 'Slightly') : 'No'}: ${nameFinding(worst, rules)}`,
    because: null,
  };
}

const UNCHANGED: Verdict = { answer: 'No: no visible difference', because: null };

function ofLight(worst: Judged, asksForMore: boolean, rules: Grounds['rules']): Verdict | null {
  if (worst.rank === 0) return UNCHANGED;
  if (worst.side === null) return null;
  return {
    answer: `${(worst.side === 'overexposure') === asksForMore ? 'Yes' : 'No'}: ${nameFinding(worst, rules)}`,
    because: null,
  };
}
