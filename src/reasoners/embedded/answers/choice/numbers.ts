// Multiple choice among numbers: the range that holds the score, a tool's own value, or the file's JPEG quality.
import type { Choice } from './choose.ts';
import { fits } from './options.ts';
import { quote } from '../text/sentences.ts';
import type { Verdict } from '../yes-no.ts';

interface Range {
  letter: string;
  text: string;
  low: number;
  high: number;
}

export function amongNumbers(choice: Choice): Verdict | null {
  const ranges = choice.options.flatMap(({ letter, text }) => {
    const range = readRange(text);
    return range ? [{ letter, text, ...range }] : [];
  });
  if (ranges.length < 2 || ranges.length < choice.options.filter(({ remark }) => remark === null).length) return null;
  const target = targetOf(choice, ranges);
  if (!target) return null;
  const distances = ranges.map(({ low, high }) => Math.max(0, low - target.value, target.value - high));
  const nearest = ranges[distances.indexOf(Math.min(...distances))];
  if (!nearest) return null;
  const isExact = nearest.low === nearest.high;
  if (!distances.includes(0) && !isExact)
    return {
      answer: nearest.letter,
      because: `No option holds ${Number(target.value.toPrecision(3))}; "${nearest.text}" is nearest.`,
    };
  return target.told === null ? fits(nearest) : { answer: nearest.letter, because: `${target.told}.` };
}

const NUMBER = String.raw`(\d+(?:\.\d+)?)`;
const UNIT = String.raw`\s*(?:%|percent|stars?|points?|dB|/\s*\d+|out of \d+|of \d+)?`;
const BETWEEN = new RegExp(`^(?:between |from )?${NUMBER}${UNIT}\\s*(?:-|–|to|and)\\s*${NUMBER}${UNIT}$`, 'i');
const BELOW = new RegExp(`^(?:<=?|≤|below|under|less than|at most|up to|lower than)\\s*${NUMBER}${UNIT}$`, 'i');
const ABOVE = new RegExp(
  `^(?:(?:>=?|≥|above|over|more than|at least|higher than)\\s*${NUMBER}${UNIT}|${NUMBER}${UNIT} (?:or (?:more|above|higher)|and (?:more|above)))$`,
  'i',
);
const SINGLE = new RegExp(`^(?:about |around |approximately |~)?${NUMBER}${UNIT}$`, 'i');

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

/** What the numbers are about; null when that cannot be known. */
function targetOf(
  { stem, understood, request, score, relevant }: Choice,
  ranges: readonly Range[],
): { value: number; told: string | null } | null {
  const raw = request.evidence.tool_logs.find(
    ({ tool_name, raw_score }) => tool_name === understood.tool && raw_score !== null,
  )?.raw_score;
  if (typeof raw === 'number')
    return { value: raw, told: `${understood.tool ?? ''} gives ${Number(raw.toPrecision(4))}` };
  if (/\bjpe?g quality\b/i.test(stem)) {
    const quality = relevant
      .map(({ measurements }) => measurements['jpeg_quality'])
      .find((value) => typeof value === 'number');
    return typeof quality !== 'number'
      ? null
      : { value: quality, told: `The file was saved at JPEG quality ${quality.toFixed(0)}` };
  }
  if (!score || !/\b(score|quality|rat(e|ing)|grade|mos|stars?|points?|mark)\b/i.test(stem)) return null;
  const top = scaleOf(stem, ranges);
  const told = `The score is ${quote(score.value)} of 5`;
  if (top === 5) return { value: score.value, told: null };
  const value = ((score.value - 1) / 4) * top;
  return { value, told: `${told}, that is ${value.toFixed(top === 10 ? 1 : 0)} of ${top}` };
}

/** The question's own scale ("out of 10"), else the smallest usual one that holds all options. */
function scaleOf(stem: string, ranges: readonly Range[]): number {
  const named = /(?:out of|to|of|\/)\s*(5|10|100)\b/i.exec(
    [stem, ...ranges.map(({ text }) => (/(out of|\/)/i.test(text) ? text : ''))].join(' '),
  )?.[1];
  const largest = Math.max(...ranges.flatMap(({ low, high }) => [low, high]).filter(Number.isFinite));
  return named
    ? Math.max(Number(named), largest <= 5 ? 5 : 0)
    : ([5, 10, 100].find((scale) => largest <= scale) ?? 100);
}
