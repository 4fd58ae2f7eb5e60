// Predicts which tools will be chosen, for the prefetch.
import type { ToolRow } from '../../../schemas/tool.ts';
import { DISTORTION_CATEGORIES } from '../../../schemas/vocabulary.ts';
import { weakMemoize } from '../../lib/weak-memoize.ts';
import { costPerMegapixel, rankTools } from '../registry.ts';

interface PredictionInput {
  tools: readonly ToolRow[];
  type: ToolRow['type'];
  size: { width: number; height: number };
  /** Milliseconds in which prefetched tools add no latency. */
  spareMs: number;
}

/** Leaves out tools that refuse an image this small. */
export const predictTools = ({ tools, type, size, spareMs }: PredictionInput): ToolRow[] =>
  predictByType(filterBySize(tools, Math.min(size.width, size.height)))[type](size, spareMs);

const CHEAP_MS_PER_MEGAPIXEL = 5;

/** Returns the same array if nothing is left out, so that the memoized prediction is found. */
function filterBySize(tools: readonly ToolRow[], shorterSide: number): readonly ToolRow[] {
  const fitting = tools.filter((row) => row.min_side <= shorterSide);
  return fitting.length === tools.length ? tools : fitting;
}

/** By type: the tool that leads for most distortions, all cheap ones, and the cheapest others that fit into the spare time. */
const predictByType = weakMemoize((tools: readonly ToolRow[]) => {
  const predict = (type: ToolRow['type']) => {
    const leads = DISTORTION_CATEGORIES.map((category) => rankTools(tools, category, type === 'FR')[0]);
    const countLeads = (row: ToolRow): number => leads.filter((lead) => lead === row).length;
    const likeliest = tools.toSorted((a, b) => countLeads(b) - countLeads(a))[0];
    const ofType = tools.filter((row) => row.type === type);
    const always = ofType.filter((row) => row === likeliest || costPerMegapixel(row) <= CHEAP_MS_PER_MEGAPIXEL);
    const others = ofType
      .filter((row) => !always.includes(row) && !row.on_request)
      .toSorted((a, b) => costPerMegapixel(a) - costPerMegapixel(b));
    return ({ width, height }: { width: number; height: number }, spareMs: number): ToolRow[] => {
      const costMs = (row: ToolRow): number => (costPerMegapixel(row) * width * height) / 1e6;
      let leftMs = spareMs - always.reduce((sum, row) => sum + costMs(row), 0);
      return [
        ...always,
        ...others.filter((row) => {
          leftMs -= costMs(row);
          return leftMs >= 0;
        }),
      ];
    };
  };
  return { FR: predict('FR'), NR: predict('NR') };
});
