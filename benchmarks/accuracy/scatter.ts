// Draws scores against ratings as an SVG scatter plot with the fitted logistic curve.
import { applyLogistic, fitLogistic } from '../statistics/logistic-fit.ts';

export interface ScatterOptions {
  title: string;
  /** Axis label of the ratings. */
  label: string;
  points: readonly { score: number; mos: number }[];
}

const SIZE = { width: 520, height: 420 };
const FRAME = { left: 56, right: 16, top: 34, bottom: 46 };
/** More dots only make the file larger. */
const MAX_DOTS = 3_000;

export function drawScatter({ title, label, points }: ScatterOptions): string {
  const ratings = points.map(({ mos }) => mos);
  const [low, high] = [Math.floor(Math.min(...ratings)), Math.ceil(Math.max(...ratings))];
  const x = (score: number): number => FRAME.left + ((score - 1) / 4) * (SIZE.width - FRAME.left - FRAME.right);
  const y = (mos: number): number =>
    SIZE.height - FRAME.bottom - ((mos - low) / (high - low)) * (SIZE.height - FRAME.top - FRAME.bottom);
  const step = (high - low) / 5;
  const every = Math.max(1, Math.ceil(points.length / MAX_DOTS));
  const dots = points
    .filter((_, index) => index % every === 0)
    .map(({ score, mos }) => `<circle cx="${x(score).toFixed(1)}" cy="${y(mos).toFixed(1)}" r="1.6"/>`);
  const curve =
    points.length >= 8
      ? fitLogistic(
          points.map(({ score }) => score),
          ratings,
        )
      : null;
  const line = curve
    ? Array.from({ length: 81 }, (_, index) => 1 + index / 20)
        .map((score) => ({ score, mos: applyLogistic(curve, score) }))
        .filter(({ mos }) => mos >= low && mos <= high)
        .map(({ score, mos }) => `${x(score).toFixed(1)},${y(mos).toFixed(1)}`)
        .join(' ')
    : '';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" font-family="sans-serif" font-size="12">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${SIZE.width}" height="${SIZE.height}" fill="white"/>`,
    `<text x="${FRAME.left}" y="20" font-size="13">${escapeXml(title)}</text>`,
    `<rect x="${FRAME.left}" y="${FRAME.top}" width="${SIZE.width - FRAME.left - FRAME.right}" height="${SIZE.height - FRAME.top - FRAME.bottom}" fill="none" stroke="#888"/>`,
    ...[1, 2, 3, 4, 5].map(
      (score) => `<text x="${x(score)}" y="${SIZE.height - 28}" text-anchor="middle">${score}</text>`,
    ),
    ...Array.from({ length: 6 }, (_, index) => low + index * step).map(
      (mos) =>
        `<text x="${FRAME.left - 6}" y="${(y(mos) + 4).toFixed(1)}" text-anchor="end">${Number(mos.toFixed(1))}</text>`,
    ),
    `<text x="${SIZE.width / 2}" y="${SIZE.height - 8}" text-anchor="middle">quality_score.value</text>`,
    `<text transform="translate(14 ${SIZE.height / 2}) rotate(-90)" text-anchor="middle">${escapeXml(label)}</text>`,
    `<g fill="#1f77b4" fill-opacity="0.45">${dots.join('')}</g>`,
    `<polyline points="${line}" fill="none" stroke="#d62728" stroke-width="1.5"/>`,
    '</svg>',
    '',
  ].join('\n');
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
