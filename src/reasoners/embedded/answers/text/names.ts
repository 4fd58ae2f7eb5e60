// The smallest parts of an answer: names of findings and places in plain English, and how words are joined.
import type { Place } from '../../../../../schemas/responses/assessment.ts';
import { GLOBAL, type DistortionCategory, type Severity } from '../../../../../schemas/vocabulary.ts';
import type { Judged } from '../../findings/ranking.ts';
import type { SeverityRules } from '../../findings/severity-rules.ts';

/** "moderate blur", with the object where it is not the whole picture. */
export function nameFinding(item: Judged, rules: SeverityRules): string {
  const { severity, object, instead } = item;
  const other = instead ? `, but ${qualify(instead.severity, sayNoun(instead.side))}` : '';
  return `${qualify(severity, nounOf(item, rules))}${object === GLOBAL ? '' : ` on ${withArticle(object)}`}${other}`;
}

/** With the place where one is known: "severe blur, most visible on the left". */
export function nameWithPlace(item: Judged, rules: SeverityRules): string {
  const place = item.rank > 0 ? item.place : null;
  if (!place) return nameFinding(item, rules);
  if (place.where === 'all over')
    return `${qualify(item.severity, nounOf(item, rules))} all over ${item.object === GLOBAL ? 'the picture' : withArticle(item.object)}`;
  return `${nameFinding({ ...item, instead: null }, rules)}, ${tellPlace(place, item.type)}`;
}

/** The side where one is known ("overexposure"), the distortion otherwise ("exposure error"). */
export function nounOf({ side, type }: Judged, rules: SeverityRules): string {
  if (side !== null) return sayNoun(side);
  // Who asks for sharpness is told of too little of it, unless a side says that there is too much.
  return type === 'Sharpness' ? 'lack of sharpness' : (rules.categories.get(type)?.name ?? type.toLowerCase());
}

/** The lexicon's name for a side, as one would say it after "severe". */
const sayNoun = (side: string): string => (side === 'stray pixels' ? 'salt-and-pepper noise' : side);

/** "severe blur", but "severely low contrast". */
function qualify(severity: Severity, noun: string): string {
  if (severity === 'none')
    return noun === 'low contrast' || noun === 'excessive contrast' ? `no visibly ${noun}` : `no visible ${noun}`;
  return /^(low|excessive) /.test(noun)
    ? `${severity === 'extreme' ? 'extremely' : `${severity}ly`} ${noun}`
    : `${severity} ${noun}`;
}

const PLACE_WORDS: Record<Place['where'], string> = {
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

function tellPlace({ where }: Place, type: DistortionCategory): string {
  // Blur shows only where there is detail to lose: that is no proof that it is weaker elsewhere.
  const superlative =
    where === 'several places' ? '' : type === 'Blurs' || type === 'Sharpness' ? 'most visible ' : 'strongest ';
  return `${superlative}${PLACE_WORDS[where]}`;
}

/** "the car", but "my car" and "Anna" as they are. */
export function withArticle(object: string): string {
  return /^(the|a|an|my|your|our|his|her|its|their|this|that|these|those)\s/i.test(object) ||
    /^\p{Lu}/u.test(object) ||
    /['’]s\s/.test(object)
    ? object
    : `the ${object}`;
}

export function list(items: readonly string[], conjunction = 'and'): string {
  if (items.length < 2) return items.join('');
  return `${items.slice(0, -1).join(', ')} ${conjunction} ${items.at(-1) ?? ''}`;
}

/** A model's words may come without the stop that the next sentence needs. */
export const asSentence = (text: string): string =>
  /[.!?…]["”)]?$/.test(text.trim()) ? text.trim() : `${text.trim()}.`;

export const upperFirst = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
/** "JPEG" stays as it is. */
export const lowerFirst = (text: string): string =>
  /^\p{Lu}(?!\p{Lu})/u.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text;
