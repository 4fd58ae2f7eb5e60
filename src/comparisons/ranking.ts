// From the assessments of all pictures to the ranking, the pairs and the verdict.
import type { Pair, RankedPicture } from '../../schemas/responses/comparison.ts';
import { probabilityOfBetter, spreadOf, type ClosenessRule } from './closeness.ts';
import { findReasons, type Compared } from './reasons.ts';

export interface Ranking {
  verdict: string;
  best: number | null;
  ranking: RankedPicture[];
  pairs: Pair[];
}

const MAX_FINDINGS = 3;

export function rankPictures(pictures: readonly Compared[], rule: ClosenessRule): Ranking {
  const ordered = pictures.toSorted((a, b) => scoreOf(b) - scoreOf(a) || a.picture - b.picture);
  const pairs = ordered.flatMap((first, index) =>
    ordered.slice(index + 1).map((second) => comparePair(first, second, rule)),
  );
  const ranking = ordered.map((compared, index) => describePicture(compared, index, pairs, rule));
  const leader = ranking[0];
  const isBest =
    leader?.quality_score &&
    pairs.every(({ pictures: [first], better }) => first !== leader.picture || better === first);
  return { verdict: tellVerdict(ranking, pairs), best: isBest ? leader.picture : null, ranking, pairs };
}

/** Without a score: behind all that have one. */
const scoreOf = ({ assessment }: Compared): number => assessment.quality_score?.value ?? 0;

function comparePair(first: Compared, second: Compared, rule: ClosenessRule): Pair {
  const [a, b] = [first.assessment.quality_score, second.assessment.quality_score];
  const pictures = [first.picture, second.picture];
  const reasons = findReasons(first, second);
  if (!a || !b) {
    const missing = [first, second].filter(({ assessment }) => !assessment.quality_score).map(({ picture }) => picture);
    return {
      pictures,
      better: null,
      too_close: false,
      difference: null,
      probability: null,
      verdict: `There is no score for ${name(missing)}.`,
      reasons,
    };
  }
  // The same file has the same errors, whatever is assumed of others.
  const same = first.assessment.image.sha256 === second.assessment.image.sha256;
  const probability = same
    ? 0.5
    : round(probabilityOfBetter(a.value, b.value, [spreadOf(a, rule), spreadOf(b, rule)], rule));
  const decided = probability >= rule.decided_at && a.value > b.value;
  const scores = `${quote(a.value)} against ${quote(b.value)}, ${Math.round(probability * 100)} % sure`;
  return {
    pictures,
    better: decided ? first.picture : null,
    too_close: !decided,
    difference: round(a.value - b.value),
    probability,
    verdict: decided
      ? `Picture ${first.picture} is better than picture ${second.picture}: ${scores}.`
      : `Pictures ${first.picture} and ${second.picture} are too close to call: ${scores}.`,
    reasons,
  };
}

function describePicture(
  { picture, assessment }: Compared,
  index: number,
  pairs: readonly Pair[],
  rule: ClosenessRule,
): RankedPicture {
  const { id, image, quality_score: score, summarizer_result: result, diagnostics, metadata } = assessment;
  return {
    rank: score ? index + 1 : null,
    picture,
    id,
    image,
    quality_score: score,
    spread: score && round(spreadOf(score, rule)),
    findings: diagnostics.findings.slice(0, MAX_FINDINGS),
    final_answer: result?.final_answer ?? null,
    quality_reasoning: result?.quality_reasoning ?? null,
    too_close_to: pairs.flatMap(({ pictures, too_close: close }) =>
      close && pictures.includes(picture) ? pictures.filter((other) => other !== picture) : [],
    ),
    degraded_reason: metadata.degraded_reason,
  };
}

function tellVerdict(ranking: readonly RankedPicture[], pairs: readonly Pair[]): string {
  const scored = ranking.filter(({ quality_score: score }) => score !== null);
  const [leader] = scored;
  if (!leader) return 'None of the pictures has a score, so that they cannot be ranked.';
  const rivals = pairs
    .filter(({ pictures: [first], too_close: close }) => first === leader.picture && close)
    .map(({ pictures }) => pictures[1] ?? 0);
  const unscored = ranking.filter(({ quality_score: score }) => score === null).map(({ picture }) => picture);
  const opening =
    rivals.length > 0
      ? `It is too close to call between ${name([leader.picture, ...rivals])}.`
      : scored.length === 1
        ? `Only picture ${leader.picture} has a score.`
        : `Picture ${leader.picture} is the best.`;
  const order = `By score: ${scored.map(({ picture, quality_score: score }) => `picture ${picture} (${score?.level ?? ''}, ${quote(score?.value ?? 0)})`).join(', ')}.`;
  return [
    opening,
    order,
    ...(unscored.length > 0 && scored.length > 1 ? [`There is no score for ${name(unscored)}.`] : []),
  ].join(' ');
}

function name(pictures: readonly number[]): string {
  if (pictures.length === 1) return `picture ${pictures[0] ?? ''}`;
  return `pictures ${pictures.slice(0, -1).join(', ')} and ${pictures.at(-1) ?? ''}`;
}

/** Two digits, never rounded up, as the answers to single questions quote it. */
const quote = (value: number): string => (Math.floor(value * 100) / 100).toFixed(2);
const round = (value: number): number => Math.round(value * 1e6) / 1e6;
