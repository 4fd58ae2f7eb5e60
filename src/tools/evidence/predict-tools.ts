// What the evidence source begins with before anybody has asked: the tools that are likely to be chosen.
import type { ToolRow } from '../../../schemas/tool.ts';
import { DISTORTION_CATEGORIES } from '../../../schemas/vocabulary.ts';
import { weakMemoize } from '../../lib/weak-memoize.ts';
import { rankTools } from '../registry.ts';

export interface Guess {
  tools: readonly ToolRow[];
  type: ToolRow['type'];
  size: { width: number; height: number };
  /** Time that costs nobody anything. */
  spareMs: number;
}

/** Tools that refuse so small a picture are left out. */
export const guessTools = ({ tools, type, size, spareMs }: Guess): ToolRow[] =>
  likelyTools(fitting(tools, Math.min(size.width, size.height)))[type](size, spareMs);

const CHEAP_MS_PER_MEGAPIXEL = 5;

/** The list itself where all its tools take so small a picture, so that what is known of it stays known. */
function fitting(tools: readonly ToolRow[], shorterSide: number): readonly ToolRow[] {
  const taking = tools.filter((row) => row.min_side <= shorterSide);
  return taking.length === tools.length ? tools : taking;
}

/** By type: the tool that leads for most distortions, all that cost next to nothing, and the cheapest of the others while there is time. */
const likelyTools = weakMemoize((tools: readonly ToolRow[]) => {
  const likely = (type: ToolRow['type']) => {
    const leads = DISTORTION_CATEGORIES.map((category) => rankTools(tools, category, type === 'FR')[0]);
    const times = (row: ToolRow): number => leads.filter((lead) => lead === row).length;
    const likeliest = tools.toSorted((a, b) => times(b) - times(a))[0];
    const own = tools.filter((row) => row.type === type);
    const always = own.filter((row) => row === likeliest || costOf(row) <= CHEAP_MS_PER_MEGAPIXEL);
    const others = own
      .filter((row) => !always.includes(row) && !row.on_request)
      .toSorted((a, b) => costOf(a) - costOf(b));
    return ({ width, height }: { width: number; height: number }, spareMs: number): ToolRow[] => {
      let left = spareMs;
      const affordable = (row: ToolRow): boolean => (left -= (costOf(row) * width * height) / 1e6) >= 0;
      always.forEach(affordable);
      return [...always, ...others.filter(affordable)];
    };
  };
  return { FR: likely('FR'), NR: likely('NR') };
});

const costOf = (row: ToolRow): number => row.cost_ms_per_megapixel ?? Infinity;
