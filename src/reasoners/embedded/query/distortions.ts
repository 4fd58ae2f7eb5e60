// Part of understanding: which distortion categories the query names, and for which of its objects.
import { GLOBAL, type DistortionCategory } from '../../../../schemas/vocabulary.ts';
import type { ObjectMention } from './objects.ts';
import { is, type Segment } from './segments.ts';

/** "Noise in the shadows", "are the highlights tinted": where another distortion is named beside them, these say only where. */
export function withoutPlaces(segments: readonly Segment[]): Segment[] {
  const isPlace = (segment: Segment, index: number): boolean =>
    is(segment, 'distortion') &&
    is(segment, 'place') &&
    !is(is(segments[index - 1], 'determiner', 'quality') ? segments[index - 2] : segments[index - 1], 'conjunction');
  const isNamedBeside = segments.some((segment, index) => is(segment, 'distortion') && !isPlace(segment, index));
  return isNamedBeside ? segments.filter((segment, index) => !isPlace(segment, index)) : [...segments];
}

/** In the order of the text; a treatment ("denoising") comes after what it is said to have done. */
export function namedCategories(texts: readonly (readonly Segment[])[]): DistortionCategory[] {
  const segments = texts.flat();
  const ordered = [
    ...segments.filter((segment) => is(segment, 'distortion')),
    ...segments.filter((segment) => is(segment, 'process')),
  ];
  return [...new Set(ordered.flatMap((segment) => segment.meaning?.category ?? []))];
}

/** Only where every mention of the category means the same side: "too dark or too bright" asks for both. */
export function namedSides(segments: readonly Segment[]): Map<DistortionCategory, string> {
  const mentions = segments.filter((segment) => is(segment, 'distortion') && !segment.excluded);
  const categories = new Set(mentions.flatMap((segment) => segment.meaning?.category ?? []));
  return new Map(
    [...categories].flatMap((category) => {
      const sides = new Set(
        mentions
          .filter((segment) => segment.meaning?.category === category)
          .map((segment) => segment.meaning?.side ?? null),
      );
      const [side] = sides;
      return sides.size === 1 && side ? [[category, side]] : [];
    }),
  );
}

/** `Object.fromEntries` makes even "__proto__" an ordinary key of its own. */
export function assignToObjects(
  segments: readonly Segment[],
  objects: readonly ObjectMention[],
  categories: readonly DistortionCategory[],
): Record<string, DistortionCategory[]> {
  if (objects.length === 0) return { [GLOBAL]: [...categories] };
  const pairs = pairClauses(segments, objects);
  return Object.fromEntries(pairs ?? objects.map((mention) => [mention.name, [...categories]]));
}

interface Group {
  kind: 'object' | 'distortion';
  names: string[];
}

/** "Is the sky noisy and the car blurry?" alternates thing and flaw, so each keeps its own; anything else is meant jointly. */
function pairClauses(
  segments: readonly Segment[],
  objects: readonly ObjectMention[],
): [string, DistortionCategory[]][] | null {
  const groups = groupMentions(segments, objects);
  if (groups.length < 4 || groups.length % 2 !== 0) return null;
  const pairs: [string, DistortionCategory[]][] = [];
  for (let index = 0; index < groups.length; index += 2) {
    const pair = [groups[index], groups[index + 1]];
    const things = pair.find((group) => group?.kind === 'object');
    const flaws = pair.find((group) => group?.kind === 'distortion');
    if (!things || !flaws) return null;
    pairs.push(
      ...things.names.map((name): [string, DistortionCategory[]] => [name, flaws.names as DistortionCategory[]]),
    );
  }
  return pairs;
}

function groupMentions(segments: readonly Segment[], objects: readonly ObjectMention[]): Group[] {
  const groups: Group[] = [];
  segments.forEach((segment, index) => {
    const object = objects.find((mention) => mention.from === index);
    const isInside = objects.some((mention) => index > mention.from && index < mention.to);
    const category = is(segment, 'distortion') && !segment.excluded && !isInside ? segment.meaning?.category : null;
    const isWhole = !isInside && is(segment, 'picture', 'place') && is(segments[index - 1], 'determiner');
    if (object) addTo(groups, 'object', object.name);
    else if (category) addTo(groups, 'distortion', category);
    else if (isWhole) addTo(groups, 'object', GLOBAL);
  });
  return groups;
}

/** The whole picture counts as a thing of its own only where no object stands beside it. */
function addTo(groups: Group[], kind: Group['kind'], name: string): void {
  const last = groups.at(-1);
  if (last?.kind !== kind) groups.push({ kind, names: [name] });
  else if (last.names.includes(GLOBAL)) last.names = [name];
  else if (name !== GLOBAL && !last.names.includes(name)) last.names.push(name);
}
