// Multiple choice that compares: objects with each other, or the picture with its reference.
import { GLOBAL } from '../../../../../schemas/vocabulary.ts';
import type { Choice } from './choose.ts';
import { rankFindings, type Judged } from '../../findings/ranking.ts';
import { findRemark } from './options.ts';
import { list, nameFinding } from '../text/names.ts';
import { UNDECIDED, type Verdict } from '../yes-no.ts';

const plain = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/^(the|a|an)\s+/, '');

/** "Which is sharper, the car or the dog? A. The car B. The dog": each by the worst that was found on it. */
export function amongObjects({ options, relevant, understood, request, rules }: Choice): Verdict | null {
  const named = options.filter(({ text }) => understood.objects.some((object) => plain(object) === plain(text)));
  if (named.length < 2) return null;
  const worst = rankFindings(
    named.flatMap((option) => {
      const item = relevant.find(({ object }) => plain(object) === plain(option.text));
      return item ? [{ ...item, option }] : [];
    }),
  );
  if (worst.length < 2) {
    const boxless = named
      .map(({ text }) => text)
      .filter((text) => request.ungrounded.some((object) => plain(object) === plain(text)));
    return {
      answer: findRemark(options, 'unsure')?.letter ?? UNDECIDED,
      because: boxless.length > 0 ? `Without a box, ${list(boxless)} cannot be compared.` : null,
    };
  }
  const [first, last] = [worst[0], worst.at(-1)];
  const chosen = understood.polarity === 'asks_for_virtue' ? last : first;
  const isTie = first !== undefined && last !== undefined && isEqual(first, last);
  const told = `The evidence shows ${list(worst.map((item) => nameFinding(item, rules)))}`;
  const tied = isTie ? findRemark(options, 'equal') : undefined;
  return chosen
    ? { answer: (tied ?? chosen.option).letter, because: `${told}${isTie ? ': no clear difference' : ''}.` }
    : null;
}

/** Equally severe and nearly equally strong. */
export const isEqual = (a: Judged, b: Judged): boolean =>
  a.rank === b.rank && Math.abs((a.strength ?? a.rank) - (b.strength ?? b.rank)) < 0.25;

const KINDS: readonly ['better' | 'same' | 'worse', RegExp][] = [
  ['worse', /\b(worse|degraded|lower|inferior|poorer|damaged)\b/i],
  ['better', /\b(better|improved|higher|superior)\b/i],
  ['same', /\b(same|equal(ly)?|identical|unchanged|no (visible )?(difference|change)|similar)\b/i],
];

/** From here on a full-reference score means that hardly anybody sees a difference. */
const INDISTINGUISHABLE = 4.5;

/** "Compared with the reference it is A. better B. the same C. worse": tools measure the distance, so that a gain cannot be told from a loss. */
export function besideReference({ options, request, score }: Choice): Verdict | null {
  const kinds = options.map(({ text, claims }) =>
    claims.length > 0 ? null : (KINDS.find(([, words]) => words.test(text))?.[0] ?? null),
  );
  if (new Set(kinds.filter((kind) => kind !== null)).size < 2) return null;
  const isGlobal = Object.keys(request.evidence.quality_scores ?? {}).every((object) => object === GLOBAL);
  if (!score || request.plan.reference_mode !== 'Full-Reference' || !isGlobal) return null;
  const kind = score.value >= INDISTINGUISHABLE ? 'same' : 'worse';
  const option = options[kinds.indexOf(kind)];
  return option
    ? {
        answer: option.letter,
        because:
          kind === 'same' ? 'Hardly a difference from the reference shows.' : 'A difference from the reference shows.',
      }
    : null;
}
