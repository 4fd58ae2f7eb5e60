// Multiple choice among distortions: "Which flaw is worst? A. Blur B. Noise", sides of one, degrees of one, and their denials.
import { DISTORTION_CATEGORIES, type DistortionCategory } from '../../../../../schemas/vocabulary.ts';
import type { Choice } from './choose.ts';
import { degreeOf } from './degrees.ts';
import { isEqual } from './comparison.ts';
import { narrow, rankFindings, type Judged } from '../../findings/ranking.ts';
import { findRemark, fits, naming, type Claim, type ReadOption } from './options.ts';
import { list, nameFinding } from '../text/names.ts';
import type { Verdict } from '../yes-no.ts';

export function amongDistortions(choice: Choice): Verdict | null {
  const { options, relevant, stem } = choice;
  const named = naming(options);
  if (
    named.length === 0 ||
    relevant.length === 0 ||
    (named.length < 2 && !options.some(({ remark }) => remark !== null))
  )
    return null;
  const complaints = named.filter(({ claims }) => claims.every(({ praises }) => !praises));
  if (new Set(named.flatMap(({ claims }) => claims.map(({ category }) => axisOf(category)))).size === 1) {
    return tellSidesApart(complaints) ? byClaims(choice, named) : alongOneAxis(choice, named);
  }
  return ASKS_FOR_LEAST.test(stem) ? leastOf(choice, complaints) : byClaims(choice, named);
}

const ASKS_FOR_LEAST =
  /\b(least|weakest|lowest|smallest|not (present|visible|apparent|there|affected|seen|found)|absent|isn't|is not|NOT|does not|doesn't)\b/;

/** Blur and lack of sharpness are one thing said twice. */
const axisOf = (category: DistortionCategory): string => (category === 'Sharpness' ? 'Blurs' : category);

/** "A. Too dark B. Too bright": one distortion, and the options name different sides of it. */
function tellSidesApart(complaints: readonly ReadOption[]): boolean {
  const sides = new Set(complaints.flatMap(({ claims }) => claims.map(({ side }) => side)));
  return complaints.length > 1 && sides.size > 1 && !sides.has(null);
}

interface Weighed {
  option: ReadOption;
  /** What the evidence says of each claim. */
  items: { claim: Claim; item: Judged }[];
  agreement: number;
}

/** Each option by how much of it is true: what is there speaks for who complains of it and against who denies it, by its strength. */
function byClaims(choice: Choice, named: readonly ReadOption[]): Verdict | null {
  const { options, rules, relevant, stem } = choice;
  const weighed = named
    .map((option) => weigh(option, relevant))
    .filter(({ items }) => items.length > 0)
    .toSorted((a, b) => b.agreement - a.agreement);
  const best = weighed[0];
  if (!best) return null;
  const shown = rankFindings(
    weighed.flatMap(({ items }) => items.map(({ item }) => item)).filter(({ rank }) => rank > 0),
  );
  const all = findRemark(options, 'all') ?? findRemark(options, 'equal');
  const complaining = weighed.filter(({ items }) => items.every(({ claim }) => !claim.praises));
  if (all && complaining.length > 1 && areAlike(complaining, SUPERLATIVE.test(stem) || all.remark === 'equal')) {
    return {
      answer: all.letter,
      because: `The evidence shows ${list([...new Set(shown.map((item) => nameFinding(item, rules)))])}.`,
    };
  }
  const none = findRemark(options, 'none');
  if (best.agreement <= 0) {
    if (none) return { answer: none.letter, because: 'None of the distortions named is clearly visible.' };
    return {
      answer: best.option.letter,
      because: `None of the options is clearly visible; "${best.option.text}" comes closest.`,
    };
  }
  return fits(best.option);
}

const SUPERLATIVE = /\b(worst|most|main(ly)?|strongest|dominant|primary|worse|biggest|chief(ly)?)\b/i;

/** For "both": with a superlative only a tie, otherwise that all of them show. */
function areAlike(complaining: readonly Weighed[], mustTie: boolean): boolean {
  const items = complaining.flatMap(({ items: own }) => own.map(({ item }) => item)).filter(({ rank }) => rank > 0);
  const [first, last] = [items[0], items.at(-1)];
  if (items.length < complaining.length || !first || !last) return false;
  return !mustTie || isEqual(first, last);
}

function weigh(option: ReadOption, relevant: readonly Judged[]): Weighed {
  const items = option.claims.flatMap((claim) => {
    const own = relevant.filter(({ type }) => type === claim.category);
    const [item] = claim.side === null ? own : narrow(own, new Map([[claim.category, claim.side]]));
    return item ? [{ claim, item }] : [];
  });
  const agreement = items.reduce((sum, { claim, item }) => {
    // An order of its own among equals, so that one function decides what is worse.
    const strength =
      Math.max(item.rank, item.strength ?? 0) -
      relevant.indexOf(relevant.find(({ type }) => type === item.type) ?? item) * 1e-3;
    if (item.rank > 0) return sum + (claim.praises ? -strength : strength);
    return (
      sum +
      (claim.praises
        ? 0.5
        : -1 + Math.min(0.9, item.strength ?? 0) * 0.5 - DISTORTION_CATEGORIES.indexOf(claim.category) * 1e-6)
    );
  }, 0);
  return { option, items, agreement: items.length > 0 ? agreement : -Infinity };
}

function leastOf({ relevant }: Choice, complaints: readonly ReadOption[]): Verdict | null {
  for (const item of relevant.toReversed()) {
    const option = complaints.find(({ claims }) => claims.some(({ category }) => category === item.type));
    if (option) return fits(option);
  }
  return null;
}

/** "A. Very sharp B. Slightly blurry C. Very blurry": all options speak of one property, so the nearest degree of it is right. */
function alongOneAxis({ options, relevant, request }: Choice, named: readonly ReadOption[]): Verdict | null {
  const axis = axisOf(named[0]?.claims[0]?.category ?? 'Blurs');
  const worst = relevant.find(({ type }) => axisOf(type) === axis);
  // Looked for and not among what was found: there is none of it.
  const rank = worst?.rank ?? 0;
  const same =
    findRemark(options, request.plan.reference_mode === 'Full-Reference' ? 'equal' : 'none') ??
    findRemark(options, 'none');
  if (
    rank === 0 &&
    same &&
    !named.some(({ claims, text }) => claims.some(({ praises }) => praises) && !/\b(\w+er|more|less)\b/i.test(text))
  )
    return fits(same);
  const distances = named.map((option) =>
    Math.abs(
      degreeOf(
        option.text,
        option.claims.some(({ praises }) => praises),
      ) -
        (5 - rank),
    ),
  );
  const option = named[distances.indexOf(Math.min(...distances))];
  return option ? fits(option) : null;
}
