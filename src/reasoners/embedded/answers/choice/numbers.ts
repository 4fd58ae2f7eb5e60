// Answers a multiple choice among numbers: the range that contains the score, a tool's own value, or the file's JPEG quality.
import { chooseBestFit, type Choice } from './options.ts';
import { formatScore } from '../text/sentences.ts';
import type { Verdict } from '../verdict.ts';

interface Range {
  letter: string;
  text: string;
  low: number;
  high: number;
}

export function chooseNumber(choice: Choice): Verdict | null {
  const ranges = choice.options.flatMap(({ letter, text }) => {
    const range = readRange(text);
    return range ? [{ letter, text, ...range }] : [];
  });
  if (ranges.length < 2 || ranges.length < choice.options.filter(({ remark }) => remark === null).length) return null;
  const target = findTarget(choice, ranges);
  if (!target) return null;
  const distances = ranges.map(({ low, high }) => Math.max(0, low - target.value, target.value - high));
  const nearest = ranges[distances.indexOf(Math.min(...distances))];
  if (!nearest) return null;
  const isExact = nearest.low === nearest.high;
  if (!distances.includes(0) && !isExact)
    return {
      answer: nearest.letter,
      reason: `No option contains ${Number(target.value.toPrecision(3))}; "${nearest.text}" is closest.`,
    };
  return target.text === null ? chooseBestFit(nearest) : { answer: nearest.letter, reason: `${target.text}.` };
}

const NUMBER_PATTERN = String.raw`(\d+(?:\.\d+)?)`;
const UNIT_PATTERN = String.raw`\s*(?:%|percent|stars?|points?|dB|/\s*\d+|out of \d+|of \d+)?`;
const BETWEEN = new RegExp(
  `^(?:between |from )?${NUMBER_PATTERN}${UNIT_PATTERN}\\s*(?:-|–|to|and)\\s*${NUMBER_PATTERN}${UNIT_PATTERN}$`,
  'i',
);
const BELOW = new RegExp(
  `^(?:<=?|≤|below|under|less than|at most|up to|lower than)\\s*${NUMBER_PATTERN}${UNIT_PATTERN}$`,
  'i',
);
const ABOVE = new RegExp(
  `^(?:(?:>=?|≥|above|over|more than|at least|higher than)\\s*${NUMBER_PATTERN}${UNIT_PATTERN}|${NUMBER_PATTERN}${UNIT_PATTERN} (?:or (?:more|above|higher)|and (?:more|above)))$`,
  'i',
);
const SINGLE = new RegExp(`^(?:about |around |approximately |~)?${NUMBER_PATTERN}${UNIT_PATTERN}$`, 'i');

function readRange(text: string): { low: number; high: number } | null {
  const between = BETWEEN.exec(text);
  if (between) return { low: Number(between[1]), high: Number(between[2]) };
  const below = BELOW.exec(text);
  if (below) return { low: -Infinity, high: Number(below[1]) };
  const above = ABOVE.exec(text);
  if (above) return { low: Number(above[1] ?? above[2]), high: Infinity };
  const single = SINGLE.exec(text);
  return single ? { low: Number(single[1]), high: Number(single[1]) } : null;
}

/** The value that the numbers are about; null when that is unknown. */
function findTarget(
  { stem, parsed, request, score, relevant }: Choice,
  ranges: readonly Range[],
): { value: number; text: string | null } | null {
  const raw = request.evidence.tool_logs.find(
    ({ tool_name, raw_score }) => tool_name === parsed.tool && raw_score !== null,
  )?.raw_score;
  if (typeof raw === 'number') return { value: raw, text: `${parsed.tool ?? ''} gives ${Number(raw.toPrecision(4))}` };
  if (/\bjpe?g quality\b/i.test(stem)) {
    const quality = relevant
      .map(({ measurements }) => measurements['jpeg_quality'])
      .find((value) => typeof value === 'number');
    return typeof quality !== 'number'
      ? null
      : { value: quality, text: `The file was saved at JPEG quality ${quality.toFixed(0)}` };
  }
  if (!score || !/\b(score|quality|rat(e|ing)|grade|mos|stars?|points?|mark)\b/i.test(stem)) return null;
  const top = findScale(stem, ranges);
  if (top === 5) return { value: score.value, text: null };
  const value = ((score.value - 1) / 4) * top;
  const converted = `${value.toFixed(top === 10 ? 1 : 0)} out of ${top}`;
  return { value, text: `The score is ${formatScore(score.value)} out of 5, which is ${converted}` };
}

/** The question's own scale ("out of 10"), else the smallest usual one that contains all options. */
function findScale(stem: string, ranges: readonly Range[]): number {
  const named = /(?:out of|to|of|\/)\s*(5|10|100)\b/i.exec(
    [stem, ...ranges.map(({ text }) => (/(out of|\/)/i.test(text) ? text : ''))].join(' '),
  )?.[1];
  const largest = Math.max(...ranges.flatMap(({ low, high }) => [low, high]).filter(Number.isFinite));
  return named
    ? Math.max(Number(named), largest <= 5 ? 5 : 0)
    : ([5, 10, 100].find((scale) => largest <= scale) ?? 100);
}
