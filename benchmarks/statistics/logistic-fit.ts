// Least-squares fit of the monotone four-parameter logistic that precedes PLCC and RMSE.

export interface Logistic {
  /** Rating at the lower and at the upper end. */
  low: number;
  high: number;
  /** Score at half height, and width of the step; negative if higher scores mean lower ratings. */
  middle: number;
  width: number;
}

const MAX_ROUNDS = 200;

/** f(x) = low + (high − low) / (1 + e^(−(x − middle)/width)). Levenberg–Marquardt, started from the extremes of the data: deterministic. */
export function fitLogistic(scores: readonly number[], ratings: readonly number[]): Logistic {
  if (scores.length !== ratings.length || scores.length < 4)
    throw new RangeError(
      `Expected at least four scores with one rating each but received ${scores.length} and ${ratings.length}`,
    );
  let parameters = initialParameters(scores, ratings);
  let error = squaredError(parameters, scores, ratings);
  let damping = 1e-2;
  for (let round = 0; round < MAX_ROUNDS && damping < 1e12; round += 1) {
    const step = solve(...normalEquations(parameters, scores, ratings, damping));
    const next = parameters.map((value, index) => value + (step[index] ?? 0));
    const nextError = squaredError(next, scores, ratings);
    if (nextError < error) {
      const gain = (error - nextError) / error;
      [parameters, error, damping] = [next, nextError, damping / 5];
      if (gain < 1e-12) break;
    } else {
      damping *= 4;
    }
  }
  const [low = NaN, high = NaN, middle = NaN, width = NaN] = parameters;
  return { low, high, middle, width };
}

export const applyLogistic = ({ low, high, middle, width }: Logistic, score: number): number =>
  low + (high - low) * sigmoid((score - middle) / width);

const sigmoid = (z: number): number => 1 / (1 + Math.exp(-z));

function initialParameters(scores: readonly number[], ratings: readonly number[]): number[] {
  const count = scores.length;
  const [meanS, meanR] = [sum(scores) / count, sum(ratings) / count];
  const spread = Math.sqrt(sum(scores.map((value) => (value - meanS) ** 2)) / count) || 1;
  const slope = sum(scores.map((value, index) => (value - meanS) * ((ratings[index] ?? 0) - meanR)));
  return [Math.min(...ratings), Math.max(...ratings), meanS, slope < 0 ? -spread : spread];
}

function predict([low = 0, high = 0, middle = 0, width = 1]: readonly number[], score: number): number {
  return applyLogistic({ low, high, middle, width }, score);
}

function squaredError(parameters: readonly number[], scores: readonly number[], ratings: readonly number[]): number {
  const total = scores.reduce(
    (error, score, index) => error + (predict(parameters, score) - (ratings[index] ?? 0)) ** 2,
    0,
  );
  return Number.isFinite(total) ? total : Infinity;
}

/** JᵀJ + λ diag(JᵀJ) and Jᵀr. */
function normalEquations(
  parameters: readonly number[],
  scores: readonly number[],
  ratings: readonly number[],
  damping: number,
): [number[][], number[]] {
  const [low = 0, high = 0, middle = 0, width = 1] = parameters;
  const matrix = Array.from({ length: 4 }, () => [0, 0, 0, 0]);
  const right = [0, 0, 0, 0];
  for (const [index, score] of scores.entries()) {
    const z = (score - middle) / width;
    const s = sigmoid(z);
    const slope = ((high - low) * s * (1 - s)) / width;
    const gradient = [1 - s, s, -slope, -slope * z];
    const residual = (ratings[index] ?? 0) - predict(parameters, score);
    for (const [row, a] of gradient.entries()) {
      right[row] = (right[row] ?? 0) + a * residual;
      for (const [column, b] of gradient.entries()) (matrix[row] ?? [])[column] = (matrix[row]?.[column] ?? 0) + a * b;
    }
  }
  return [
    matrix.map((row, index) => row.map((value, column) => (index === column ? value * (1 + damping) + 1e-12 : value))),
    right,
  ];
}

/** Gaussian elimination with pivoting; a parameter without influence is not changed. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, index) => [...row, right[index] ?? 0]);
  const size = rows.length;
  for (let pivot = 0; pivot < size; pivot += 1) {
    const largest = (row: readonly number[] | undefined): number => Math.abs(row?.[pivot] ?? 0);
    const best = rows.reduce(
      (found, row, index) => (index > pivot && largest(row) > largest(rows[found]) ? index : found),
      pivot,
    );
    [rows[pivot], rows[best]] = [rows[best] ?? [], rows[pivot] ?? []];
    const head = rows[pivot] ?? [];
    const divisor = head[pivot] ?? 0;
    if (Math.abs(divisor) < 1e-300) continue;
    for (const row of rows.filter((other) => other !== head)) {
      const factor = (row[pivot] ?? 0) / divisor;
      for (let column = pivot; column <= size; column += 1)
        row[column] = (row[column] ?? 0) - factor * (head[column] ?? 0);
    }
  }
  return rows.map((row, index) => (Math.abs(row[index] ?? 0) < 1e-300 ? 0 : (row[size] ?? 0) / (row[index] ?? 1)));
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
