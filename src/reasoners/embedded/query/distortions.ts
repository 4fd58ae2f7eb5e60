// Finds the distortion categories that a question names, their variants, and which object each belongs to.
import { GLOBAL, type DistortionCategory } from '../../../../schemas/vocabulary.ts';
import type { ObjectMention } from './noun-phrases.ts';
import { is, type Segment } from './words/segments.ts';

/** "Noise in the shadows", "are the highlights tinted": beside another distortion, "shadows" and "highlights" only say where it is. */
export function dropPlaceMentions(segments: readonly Segment[]): Segment[] {
  const isPlace = (segment: Segment, index: number): boolean =>
    is(segment, 'distortion') &&
    is(segment, 'place') &&
    !is(is(segments[index - 1], 'determiner', 'quality') ? segments[index - 2] : segments[index - 1], 'conjunction');
  const isNamedBeside = segments.some((segment, index) => is(segment, 'distortion') && !isPlace(segment, index));
  return isNamedBeside ? segments.filter((segment, index) => !isPlace(segment, index)) : [...segments];
}

/** In the order of the text; treatments ("denoising") come last, after their effects. */
export function findNamedCategories(texts: readonly (readonly Segment[])[]): DistortionCategory[] {
  const segments = texts.flat();
  const ordered = [
    ...segments.filter((segment) => is(segment, 'distortion')),
    ...segments.filter((segment) => is(segment, 'process')),
  ];
  return [...new Set(ordered.flatMap((segment) => segment.meaning?.category ?? []))];
}

/** Only where every mention of the category means the same variant: "too dark or too bright" asks about both. */
export function findNamedVariants(segments: readonly Segment[]): Map<DistortionCategory, string> {
  const mentions = segments.filter((segment) => is(segment, 'distortion') && !segment.excluded);
  const categories = new Set(mentions.flatMap((segment) => segment.meaning?.category ?? []));
  return new Map(
    [...categories].flatMap((category) => {
      const variants = new Set(
        mentions
          .filter((segment) => segment.meaning?.category === category)
          .map((segment) => segment.meaning?.variant ?? null),
      );
      const [variant] = variants;
      return variants.size === 1 && variant ? [[category, variant]] : [];
    }),
  );
}

/** `Object.fromEntries` makes "__proto__" an ordinary key. */
export function assignCategoriesToObjects(
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

/** "Is the sky noisy and the car blurry?" alternates object and flaw, so each object gets its own; otherwise all objects get all flaws. */
function pairClauses(
  segments: readonly Segment[],
  objects: readonly ObjectMention[],
): [string, DistortionCategory[]][] | null {
  const groups = groupMentions(segments, objects);
  if (groups.length < 4 || groups.length % 2 !== 0) return null;
  const pairs: [string, DistortionCategory[]][] = [];
  for (let index = 0; index < groups.length; index += 2) {
    const pair = [groups[index], groups[index + 1]];
    const named = pair.find((group) => group?.kind === 'object');
    const flaws = pair.find((group) => group?.kind === 'distortion');
    if (!named || !flaws) return null;
    pairs.push(
      ...named.names.map((name): [string, DistortionCategory[]] => [name, flaws.names as DistortionCategory[]]),
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
    const isWhole = !isInside && is(segment, 'image', 'place') && is(segments[index - 1], 'determiner');
    if (object) addTo(groups, 'object', object.name);
    else if (category) addTo(groups, 'distortion', category);
    else if (isWhole) addTo(groups, 'object', GLOBAL);
  });
  return groups;
}

/** The whole image is a group member only where no object is. */
function addTo(groups: Group[], kind: Group['kind'], name: string): void {
  const last = groups.at(-1);
  if (last?.kind !== kind) groups.push({ kind, names: [name] });
  else if (last.names.includes(GLOBAL)) last.names = [name];
  else if (name !== GLOBAL && !last.names.includes(name)) last.names.push(name);
}
