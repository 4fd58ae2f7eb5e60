// Ranks assessed images: the order by score, every pair, and the verdict.
import type { Pair, RankedImage } from '../../schemas/responses/comparison.ts';
import { computeBetterProbability, computeSpread, type ClosenessRule } from './closeness.ts';
import { findReasons, type ComparedImage } from './reasons.ts';

interface Ranking {
  verdict: string;
  best: number | null;
  ranking: RankedImage[];
  pairs: Pair[];
}

const MAX_FINDINGS = 3;

export function rankImages(images: readonly ComparedImage[], rule: ClosenessRule): Ranking {
  const ordered = images.toSorted((a, b) => getScore(b) - getScore(a) || a.number - b.number);
  const pairs = ordered.flatMap((first, index) =>
    ordered.slice(index + 1).map((second) => comparePair(first, second, rule)),
  );
  const ranking = ordered.map((compared, index) => describeImage(compared, index, pairs, rule));
  const leader = ranking[0];
  const isBest =
    leader?.quality_score && pairs.every(({ images: [first], better }) => first !== leader.number || better === first);
  return { verdict: writeVerdict(ranking, pairs), best: isBest ? leader.number : null, ranking, pairs };
}

/** An image without a score comes last. */
const getScore = ({ assessment }: ComparedImage): number => assessment.quality_score?.value ?? 0;

function comparePair(first: ComparedImage, second: ComparedImage, rule: ClosenessRule): Pair {
  const [a, b] = [first.assessment.quality_score, second.assessment.quality_score];
  const images = [first.number, second.number];
  const reasons = findReasons(first, second);
  if (!a || !b) {
    const unscored = [first, second].filter(({ assessment }) => !assessment.quality_score);
    return {
      images,
      better: null,
      too_close: false,
      difference: null,
      probability: null,
      verdict: `There is no score for ${nameImages(unscored.map(({ number }) => number))}.`,
      reasons,
    };
  }
  // Identical files have identical errors, whatever correlation is assumed for others.
  const isSameFile = first.assessment.image.sha256 === second.assessment.image.sha256;
  const probability = isSameFile
    ? 0.5
    : round(computeBetterProbability(a.value, b.value, [computeSpread(a, rule), computeSpread(b, rule)], rule));
  const isDecided = probability >= rule.decided_at && a.value > b.value;
  const scores = `${formatScore(a.value)} against ${formatScore(b.value)}, ${Math.round(probability * 100)} % sure`;
  return {
    images,
    better: isDecided ? first.number : null,
    too_close: !isDecided,
    difference: round(a.value - b.value),
    probability,
    verdict: isDecided
      ? `Image ${first.number} is better than image ${second.number}: ${scores}.`
      : `Images ${first.number} and ${second.number} are too close to call: ${scores}.`,
    reasons,
  };
}

function describeImage(
  { number, assessment }: ComparedImage,
  index: number,
  pairs: readonly Pair[],
  rule: ClosenessRule,
): RankedImage {
  const { id, image, quality_score: score, summarizer_result: result, diagnostics, metadata } = assessment;
  return {
    rank: score ? index + 1 : null,
    number,
    id,
    image,
    quality_score: score,
    spread: score && round(computeSpread(score, rule)),
    findings: diagnostics.findings.slice(0, MAX_FINDINGS),
    final_answer: result?.final_answer ?? null,
    quality_reasoning: result?.quality_reasoning ?? null,
    too_close_to: pairs.flatMap(({ images, too_close: isClose }) =>
      isClose && images.includes(number) ? images.filter((other) => other !== number) : [],
    ),
    degraded_reason: metadata.degraded_reason,
  };
}

function writeVerdict(ranking: readonly RankedImage[], pairs: readonly Pair[]): string {
  const scored = ranking.filter(({ quality_score: score }) => score !== null);
  const [leader] = scored;
  if (!leader) return 'None of the images has a score, so that they cannot be ranked.';
  const rivals = pairs
    .filter(({ images: [first], too_close: isClose }) => first === leader.number && isClose)
    .map(({ images }) => images[1] ?? 0);
  const unscored = ranking.filter(({ quality_score: score }) => score === null).map(({ number }) => number);
  const outcome =
    rivals.length > 0
      ? `It is too close to call between ${nameImages([leader.number, ...rivals])}.`
      : scored.length === 1
        ? `Only image ${leader.number} has a score.`
        : `Image ${leader.number} is the best.`;
  const scores = scored.map(
    ({ number, quality_score: score }) => `image ${number} (${score?.level ?? ''}, ${formatScore(score?.value ?? 0)})`,
  );
  return [
    outcome,
    `By score: ${scores.join(', ')}.`,
    ...(unscored.length > 0 && scored.length > 1 ? [`There is no score for ${nameImages(unscored)}.`] : []),
  ].join(' ');
}

function nameImages(numbers: readonly number[]): string {
  if (numbers.length === 1) return `image ${numbers[0] ?? ''}`;
  return `images ${numbers.slice(0, -1).join(', ')} and ${numbers.at(-1) ?? ''}`;
}

/** Two digits, rounded as in single assessments. */
const formatScore = (value: number): string => (Math.round(value * 100 + 1e-9) / 100).toFixed(2);
const round = (value: number): number => Math.round(value * 1e6) / 1e6;
