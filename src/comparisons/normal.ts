// The normal distribution: Φ and the width of its 80 % interval.
/** In standard deviations: 80 % of a normal distribution lie within this distance of its mean. */
export const HALF_WIDTH_80 = 1.2815515655446004;

/** Φ(z), accurate to about 1e-12: the series of erf near the mean, the continued fraction of erfc in the tails. */
export function normalCdf(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const tail = x < 2.5 ? (1 - erfSeries(x)) / 2 : erfcFraction(x) / 2;
  return z >= 0 ? 1 - tail : tail;
}

/** erf x = 2/√π · e^(−x²) · Σ 2^n x^(2n+1) / (1·3·5…(2n+1)): all terms are positive, so that nothing cancels. */
function erfSeries(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; term > 1e-17 * sum; n += 1) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** erfc x = e^(−x²)/√π · 1/(x + ½/(x + 1/(x + 3⁄2/(x + …)))), from the inside out. */
function erfcFraction(x: number): number {
  let fraction = x;
  for (let n = 60; n >= 1; n -= 1) fraction = x + n / 2 / fraction;
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / fraction;
}
