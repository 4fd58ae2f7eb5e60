// Names findings and places in plain English and joins words.
import type { Place } from '../../../../../schemas/responses/assessment.ts';
import { GLOBAL, type DistortionCategory, type Severity } from '../../../../../schemas/vocabulary.ts';
import type { RankedFinding } from '../../findings/ranking.ts';
import type { SeverityRules } from '../../findings/severity-rules.ts';

/** "moderate blur", "severe noise on the car", "no visible overexposure, but severe underexposure". */
export function nameFinding(item: RankedFinding, rules: SeverityRules): string {
  const { severity, object, otherVariant } = item;
  const other = otherVariant ? `, but ${withSeverity(otherVariant.severity, nameVariant(otherVariant.variant))}` : '';
  return `${withSeverity(severity, nameDistortion(item, rules))}${object === GLOBAL ? '' : ` on ${withArticle(object)}`}${other}`;
}

/** "severe blur, most visible on the left". */
export function nameWithPlace(item: RankedFinding, rules: SeverityRules): string {
  const place = item.rank > 0 ? item.place : null;
  if (!place) return nameFinding(item, rules);
  if (place.where === 'all over')
    return `${withSeverity(item.severity, nameDistortion(item, rules))} all over ${item.object === GLOBAL ? 'the image' : withArticle(item.object)}`;
  return `${nameFinding({ ...item, otherVariant: null }, rules)}, ${namePlace(place, item.type)}`;
}

/** The variant where one is known ("overexposure"), the distortion otherwise ("exposure problem"). */
export function nameDistortion({ variant, type }: RankedFinding, rules: SeverityRules): string {
  if (variant !== null) return nameVariant(variant);
  // Too much sharpness is always known as the variant "over-sharpening".
  return type === 'Sharpness' ? 'lack of sharpness' : (rules.categories.get(type)?.name ?? type.toLowerCase());
}

/** Variants whose names do not read well after "severe" and "no visible". */
const VARIANT_NOUNS: Readonly<Record<string, string>> = {
  'stray pixels': 'salt-and-pepper noise',
  blocking: 'block artefacts',
  'low contrast': 'lack of contrast',
  'excessive contrast': 'excess contrast',
};
const nameVariant = (variant: string): string => VARIANT_NOUNS[variant] ?? variant;

const withSeverity = (severity: Severity, noun: string): string =>
  `${severity === 'none' ? 'no visible' : severity} ${noun}`;

const PLACE_PHRASES: Record<Place['where'], string> = {
  'all over': 'all over',
  'upper left': 'in the upper left',
  top: 'at the top',
  'upper right': 'in the upper right',
  left: 'on the left',
  centre: 'in the centre',
  right: 'on the right',
  'lower left': 'in the lower left',
  bottom: 'at the bottom',
  'lower right': 'in the lower right',
  edges: 'towards the edges',
  'several places': 'in several places',
};

function namePlace({ where }: Place, type: DistortionCategory): string {
  // Blur is visible only where there is detail to lose, so it may be just as strong elsewhere.
  const superlative =
    where === 'several places' ? '' : type === 'Blurs' || type === 'Sharpness' ? 'most visible ' : 'strongest ';
  return `${superlative}${PLACE_PHRASES[where]}`;
}

/** "the car", but "my car" and "Anna" stay as they are. */
export function withArticle(object: string): string {
  return /^(the|a|an|my|your|our|his|her|its|their|this|that|these|those)\s/i.test(object) ||
    /^\p{Lu}/u.test(object) ||
    /['’]s\s/.test(object)
    ? object
    : `the ${object}`;
}

export function joinWords(items: readonly string[], conjunction = 'and'): string {
  if (items.length < 2) return items.join('');
  return `${items.slice(0, -1).join(', ')} ${conjunction} ${items.at(-1) ?? ''}`;
}

/** Adds the full stop that a model's text may lack. */
export const asSentence = (text: string): string =>
  /[.!?…]["”)]?$/.test(text.trim()) ? text.trim() : `${text.trim()}.`;

export const upperFirst = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
/** Leaves acronyms such as "JPEG" as they are. */
export const lowerFirst = (text: string): string =>
  /^\p{Lu}(?!\p{Lu})/u.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text;
