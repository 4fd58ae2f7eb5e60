// Rank and linear correlation and RMSE between predictions and ratings.

/** Spearman's ρ: Pearson's r of the ranks, with mean ranks for ties. NaN if one side is constant. */
export function srcc(predicted: readonly number[], rated: readonly number[]): number {
  return plcc(computeRanks(predicted), computeRanks(rated));
}

/** Pearson's r. NaN if one side is constant. */
export function plcc(predicted: readonly number[], rated: readonly number[]): number {
  requireSameLength(predicted, rated);
  const [meanP, meanR] = [mean(predicted), mean(rated)];
  let [both, ownP, ownR] = [0, 0, 0];
  for (const [index, value] of predicted.entries()) {
    const [p, r] = [value - meanP, (rated[index] ?? NaN) - meanR];
    both += p * r;
    ownP += p * p;
    ownR += r * r;
  }
  return ownP === 0 || ownR === 0 ? NaN : Math.max(-1, Math.min(1, both / Math.sqrt(ownP * ownR)));
}

/** Kendall's τ-b, in O(n log n) by counting inversions. */
export function krcc(predicted: readonly number[], rated: readonly number[]): number {
  requireSameLength(predicted, rated);
  const order = predicted
    .map((_, index) => index)
    .sort((a, b) => at(predicted, a) - at(predicted, b) || at(rated, a) - at(rated, b));
  const inOrder = order.map((index) => at(rated, index));
  const pairs = (predicted.length * (predicted.length - 1)) / 2;
  const tiedP = countTies(predicted);
  const tiedR = countTies(rated);
  const tiedBoth = countTies(predicted.map((value, index) => `${value} ${at(rated, index)}`));
  // Discordant pairs among those tied on neither side are the inversions counted by a merge sort.
  const concordantLessDiscordant = pairs - tiedP - tiedR + tiedBoth - 2 * countInversions(inOrder);
  return concordantLessDiscordant / Math.sqrt((pairs - tiedP) * (pairs - tiedR));
}

export function rmse(predicted: readonly number[], rated: readonly number[]): number {
  requireSameLength(predicted, rated);
  return Math.sqrt(mean(predicted.map((value, index) => (value - at(rated, index)) ** 2)));
}

/** 1 for the smallest; equal values share their mean rank. */
export function computeRanks(values: readonly number[]): number[] {
  const order = values.map((_, index) => index).sort((a, b) => at(values, a) - at(values, b));
  const ranks = new Array<number>(values.length).fill(0);
  for (let start = 0; start < order.length;) {
    let end = start;
    while (end + 1 < order.length && at(values, at(order, end + 1)) === at(values, at(order, start))) end += 1;
    for (let place = start; place <= end; place += 1) ranks[at(order, place)] = (start + end) / 2 + 1;
    start = end + 1;
  }
  return ranks;
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

function countTies(values: readonly (number | string)[]): number {
  const counts = new Map<number | string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum + (count * (count - 1)) / 2, 0);
}

function countInversions(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const middle = values.length >> 1;
  const [left, right] = [values.slice(0, middle), values.slice(middle)];
  const inside = countInversions(left) + countInversions(right);
  left.sort((a, b) => a - b);
  right.sort((a, b) => a - b);
  let smaller = 0;
  let across = 0;
  for (const value of left) {
    while (smaller < right.length && at(right, smaller) < value) smaller += 1;
    across += smaller;
  }
  return inside + across;
}

function requireSameLength(left: readonly unknown[], right: readonly unknown[]): void {
  if (left.length !== right.length)
    throw new RangeError(`Expected ${left.length} ratings, one per prediction, but received ${right.length}`);
}

const at = (values: readonly number[], index: number): number => values[index] ?? NaN;
