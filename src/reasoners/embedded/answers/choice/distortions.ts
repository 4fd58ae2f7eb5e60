// Answers a multiple choice among distortions, their variants, their degrees and their absence.
import { DISTORTION_CATEGORIES, type DistortionCategory } from '../../../../../schemas/vocabulary.ts';
import { readDegree } from './degrees.ts';
import { isTie } from './comparison.ts';
import { rankFindings, restrictToVariants, type RankedFinding } from '../../findings/ranking.ts';
import {
  chooseBestFit,
  filterNamingDistortions,
  findRemark,
  type Choice,
  type Claim,
  type ReadOption,
} from './options.ts';
import { joinWords, nameFinding } from '../text/names.ts';
import type { Verdict } from '../verdict.ts';

export function chooseAmongDistortions(choice: Choice): Verdict | null {
  const { options, relevant, stem } = choice;
  const named = filterNamingDistortions(options);
  if (
    named.length === 0 ||
    relevant.length === 0 ||
    (named.length < 2 && !options.some(({ remark }) => remark !== null))
  )
    return null;
  const complaints = named.filter(({ claims }) => claims.every(({ praises }) => !praises));
  if (new Set(named.flatMap(({ claims }) => claims.map(({ category }) => toAxis(category)))).size === 1) {
    return nameDifferentVariants(complaints) ? chooseByClaims(choice, named) : chooseAlongAxis(choice, named);
  }
  return ASKS_FOR_LEAST.test(stem) ? chooseLeast(choice, complaints) : chooseByClaims(choice, named);
}

const ASKS_FOR_LEAST =
  /\b(least|weakest|lowest|smallest|not (present|visible|apparent|there|affected|seen|found)|absent|isn't|is not|NOT|does not|doesn't)\b/;

/** Blur and lack of sharpness are the same property. */
const toAxis = (category: DistortionCategory): string => (category === 'Sharpness' ? 'Blurs' : category);

/** "A. Too dark B. Too bright": the options name different variants of one distortion. */
function nameDifferentVariants(complaints: readonly ReadOption[]): boolean {
  const variants = new Set(complaints.flatMap(({ claims }) => claims.map(({ variant }) => variant)));
  return complaints.length > 1 && variants.size > 1 && !variants.has(null);
}

interface ScoredOption {
  option: ReadOption;
  items: { claim: Claim; item: RankedFinding }[];
  agreement: number;
}

/** The option whose claims the findings support most: a finding counts by its strength for a complaint and against praise. */
function chooseByClaims(choice: Choice, named: readonly ReadOption[]): Verdict | null {
  const { options, rules, relevant, stem } = choice;
  const scored = named
    .map((option) => scoreOption(option, relevant))
    .filter(({ items }) => items.length > 0)
    .toSorted((a, b) => b.agreement - a.agreement);
  const best = scored[0];
  if (!best) return null;
  const shown = rankFindings(
    scored.flatMap(({ items }) => items.map(({ item }) => item)).filter(({ rank }) => rank > 0),
  );
  const all = findRemark(options, 'all') ?? findRemark(options, 'equal');
  const complaining = scored.filter(({ items }) => items.every(({ claim }) => !claim.praises));
  if (
    all &&
    complaining.length > 1 &&
    areEquallyVisible(complaining, SUPERLATIVE.test(stem) || all.remark === 'equal')
  ) {
    return {
      answer: all.letter,
      reason: `The measurements show ${joinWords([...new Set(shown.map((item) => nameFinding(item, rules)))])}.`,
    };
  }
  const none = findRemark(options, 'none');
  if (best.agreement <= 0) {
    if (none) return { answer: none.letter, reason: 'None of the named flaws is clearly visible.' };
    return {
      answer: best.option.letter,
      reason: `None of the options is clearly visible; "${best.option.text}" comes closest.`,
    };
  }
  return chooseBestFit(best.option);
}

const SUPERLATIVE = /\b(worst|most|main(ly)?|strongest|dominant|primary|worse|biggest|chief(ly)?)\b/i;

/** Whether "both" is right: with a superlative only for a tie, otherwise if all of them are visible. */
function areEquallyVisible(complaining: readonly ScoredOption[], mustTie: boolean): boolean {
  const items = complaining.flatMap(({ items: own }) => own.map(({ item }) => item)).filter(({ rank }) => rank > 0);
  const [first, last] = [items[0], items.at(-1)];
  if (items.length < complaining.length || !first || !last) return false;
  return !mustTie || isTie(first, last);
}

function scoreOption(option: ReadOption, relevant: readonly RankedFinding[]): ScoredOption {
  const items = option.claims.flatMap((claim) => {
    const own = relevant.filter(({ type }) => type === claim.category);
    const [item] = claim.variant === null ? own : restrictToVariants(own, new Map([[claim.category, claim.variant]]));
    return item ? [{ claim, item }] : [];
  });
  const agreement = items.reduce((sum, { claim, item }) => {
    // The small term keeps the order of `relevant` among equals.
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

function chooseLeast({ relevant }: Choice, complaints: readonly ReadOption[]): Verdict | null {
  for (const item of relevant.toReversed()) {
    const option = complaints.find(({ claims }) => claims.some(({ category }) => category === item.type));
    if (option) return chooseBestFit(option);
  }
  return null;
}

/** "A. Very sharp B. Slightly blurry C. Very blurry": all options are degrees of one property; the nearest is right. */
function chooseAlongAxis({ options, relevant, request }: Choice, named: readonly ReadOption[]): Verdict | null {
  const axis = toAxis(named[0]?.claims[0]?.category ?? 'Blurs');
  const worst = relevant.find(({ type }) => toAxis(type) === axis);
  // Examined but not found means none of it.
  const rank = worst?.rank ?? 0;
  const same =
    findRemark(options, request.plan.reference_mode === 'Full-Reference' ? 'equal' : 'none') ??
    findRemark(options, 'none');
  if (
    rank === 0 &&
    same &&
    !named.some(({ claims, text }) => claims.some(({ praises }) => praises) && !/\b(\w+er|more|less)\b/i.test(text))
  )
    return chooseBestFit(same);
  const distances = named.map((option) =>
    Math.abs(
      readDegree(
        option.text,
        option.claims.some(({ praises }) => praises),
      ) -
        (5 - rank),
    ),
  );
  const option = named[distances.indexOf(Math.min(...distances))];
  return option ? chooseBestFit(option) : null;
}
