// Refines the parsed form of a question: whether it wants a place, a remedy or a level word.
import { MIN_TRUSTED_CONFIDENCE, type ParsedQuery } from '../query/parse-query.ts';

export const ASKS_WHERE = /\bwhere(abouts)?\b|\bwhich (part|area|region|side|corner)s?\b/i;
export const ASKS_FOR_HELP =
  /\b(improv|fix|repair|enhanc|correct|restor|remed)\w*\b|\bmake (?:it|this|that|the|my|our)(?: \w+)? better\b/i;

/** Excludes "rate how well it was corrected". */
const ASKS_WHAT_HELPS = new RegExp(
  `^\\W*(?:what|how|tell|any|anything|ideas?|tips?)\\b.*(?:${ASKS_FOR_HELP.source})`,
  'i',
);

const LEVEL_WORD = /\b(excellent|great|good|fine|fair|average|mediocre|poor|bad|terrible)\b/gi;

/** "Where are the artifacts?" and "what would make it better?" are worded like ratings but want a place or a remedy. */
export function resolveForm({ form, distortions, alternatives }: ParsedQuery, query: string): ParsedQuery['form'] {
  if (form === 'scoring' && (ASKS_WHERE.test(query) || ASKS_WHAT_HELPS.test(query))) return 'explanation';
  // "Is the quality good, fair or bad?" wants one of the words, not a yes.
  const levels = new Set((query.match(LEVEL_WORD) ?? []).map((word) => word.toLowerCase()));
  return form === 'yes_no' && distortions === null && alternatives && levels.size > 1 ? 'scoring' : form;
}

export const isLowConfidence = ({ confidence }: ParsedQuery): boolean => confidence < MIN_TRUSTED_CONFIDENCE;

/** Ratings and option letters say nothing about places; every other answer does. */
export function needsLocalization(parsed: ParsedQuery, query: string): boolean {
  const form = resolveForm(parsed, query);
  return parsed.queryType === 'IQA' && !isLowConfidence(parsed) && form !== 'scoring' && form !== 'multiple_choice';
}
