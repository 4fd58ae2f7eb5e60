// Answers a multiple choice that compares objects with each other, or the image with its reference.
import { GLOBAL } from '../../../../../schemas/vocabulary.ts';
import { isSameObject } from '../../../../pipeline/rules/scope.ts';
import { rankFindings, type RankedFinding } from '../../findings/ranking.ts';
import { findRemark, type Choice } from './options.ts';
import { joinWords, nameFinding, upperFirst } from '../text/names.ts';
import { UNDECIDED, type Verdict } from '../verdict.ts';

/** "Which is sharper, the car or the dog? A. The car B. The dog": compares the worst finding on each. */
export function chooseObject({ options, relevant, parsed, request, rules }: Choice): Verdict | null {
  const named = options.filter(({ text }) => parsed.objects.some((object) => isSameObject(object, text)));
  if (named.length < 2) return null;
  const worst = rankFindings(
    named.flatMap((option) => {
      const item = relevant.find(({ object }) => isSameObject(object, option.text));
      return item ? [{ ...item, option }] : [];
    }),
  );
  if (worst.length < 2) {
    const boxless = named
      .map(({ text }) => text)
      .filter((text) => request.ungrounded.some((object) => isSameObject(object, text)));
    return {
      answer: findRemark(options, 'unsure')?.letter ?? UNDECIDED,
      reason: boxless.length > 0 ? `${upperFirst(joinWords(boxless))} cannot be compared without a box.` : null,
    };
  }
  const [first, last] = [worst[0], worst.at(-1)];
  const chosen = parsed.polarity === 'asks_for_virtue' ? last : first;
  const isTied = first !== undefined && last !== undefined && isTie(first, last);
  const shown = `The measurements show ${joinWords(worst.map((item) => nameFinding(item, rules)))}`;
  const tied = isTied ? findRemark(options, 'equal') : undefined;
  return chosen
    ? { answer: (tied ?? chosen.option).letter, reason: `${shown}${isTied ? ': no clear difference' : ''}.` }
    : null;
}

/** Equally severe and nearly equally strong. */
export const isTie = (a: RankedFinding, b: RankedFinding): boolean =>
  a.rank === b.rank && Math.abs((a.strength ?? a.rank) - (b.strength ?? b.rank)) < 0.25;

const COMPARISON_WORDS: readonly ['better' | 'same' | 'worse', RegExp][] = [
  ['worse', /\b(worse|degraded|lower|inferior|poorer|damaged)\b/i],
  ['better', /\b(better|improved|higher|superior)\b/i],
  ['same', /\b(same|equal(ly)?|identical|unchanged|no (visible )?(difference|change)|similar)\b/i],
];

/** From this full-reference score on, hardly anyone sees a difference. */
const MIN_INDISTINGUISHABLE_SCORE = 4.5;

/** "Compared with the reference it is A. better B. the same C. worse": tools measure the distance only, so "better" is never chosen. */
export function chooseReferenceComparison({ options, request, score }: Choice): Verdict | null {
  const kinds = options.map(({ text, claims }) =>
    claims.length > 0 ? null : (COMPARISON_WORDS.find(([, words]) => words.test(text))?.[0] ?? null),
  );
  if (new Set(kinds.filter((kind) => kind !== null)).size < 2) return null;
  const isGlobal = Object.keys(request.evidence.quality_scores ?? {}).every((object) => object === GLOBAL);
  if (!score || request.plan.reference_mode !== 'Full-Reference' || !isGlobal) return null;
  const kind = score.value >= MIN_INDISTINGUISHABLE_SCORE ? 'same' : 'worse';
  const option = options[kinds.indexOf(kind)];
  return option
    ? {
        answer: option.letter,
        reason:
          kind === 'same'
            ? 'Hardly any difference from the reference is visible.'
            : 'A difference from the reference is visible.',
      }
    : null;
}
